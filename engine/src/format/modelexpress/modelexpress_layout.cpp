#include "format/modelexpress/modelexpress_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/hf/checkpoint_index.h"
#include "format/slime_v2/slime_v2_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedIndices = 8;
constexpr std::string_view DigestPrefix = "mx.adler32:";

/// The number at the end of a version id: 12 of "v12". Ids are opaque to ModelExpress itself; its service counts up.
std::optional<std::int64_t> numberOf(std::string_view id)
{
    const std::size_t digits = id.find_last_not_of("0123456789") + 1; // npos + 1 is 0
    return parseNumber(id.substr(digits));
}

bool isAdler(std::string_view text) { return text.size() == 8 && isLowerHex(text); }

/// Folders that hold an index, by the folder above them.
std::map<std::string_view, std::set<std::string_view>> indexedFolders(const std::vector<ObjectInfo>& listing)
{
    std::map<std::string_view, std::set<std::string_view>> folders;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        const SplitKey folder = splitKey(key.folder);
        const bool isNamed = !folder.file.empty() && !folder.file.starts_with("weight_v") && numberOf(folder.file);
        if (!beside::holds(object.key) && isNamed && key.file == CheckpointIndexName)
            folders[folder.folder].insert(key.folder);
    }
    return folders;
}

/// Digests of full tensors stand in the files' metadata, under the plain name or behind a prefix.
void addDigests(const SafetensorsHeader& header, std::map<std::string, std::string>& digests)
{
    for (const StoredTensor& stored : header.tensors()) {
        for (const std::string& key : { std::string(DigestPrefix) + stored.info.name, stored.info.name }) {
            const auto at = header.metadata().find(key);
            if (at != header.metadata().end() && isAdler(at->second))
                digests.emplace(stored.info.name, at->second);
        }
    }
}

bool isWrittenByModelExpress(const SafetensorsHeader& header)
{
    std::map<std::string, std::string> digests;
    addDigests(header, digests);
    return !digests.empty() && digests.size() == header.tensors().size();
}

Result<VersionIndex> readFull(const ObjectStore& store, const VersionObjects& version, const IndexJson& index,
                              TaskContext& task)
{
    std::map<std::string, std::string> digests;
    DS_TRY(VersionIndex out,
           readShardedIndex(store, version, version.name, index, task,
                            [&](const SafetensorsHeader& header) { addDigests(header, digests); }));
    for (TensorEntry& entry : out.tensors) {
        const auto at = digests.find(entry.name());
        if (at != digests.end())
            entry.digest = at->second;
        else if (!digests.empty())
            out.notes.push_back(
                Error { Code::Claim,
                        fmt::format("has no checksum for {}, as it has for others: it cannot be verified",
                                    quoteName(entry.name())),
                        version.name,
                        version.step,
                        {} });
    }
    if (!digests.empty())
        out.digests = DigestAlgorithm::Adler32;
    return out;
}

}

Result<bool> ModelExpressLayout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                            TaskContext& task) const
{
    std::size_t probed = 0;
    for (const VersionObjects& version : group(listing)) {
        const auto object = objectIndex(version, joinKey(version.name, CheckpointIndexName));
        if (!object)
            continue;
        if (++probed > MaxProbedIndices)
            break;
        DS_CHECK(task.checkpoint());
        const Result<IndexJson> index = readIndexJson(store, version.objects[*object], task);
        if (!index && !concernsOneObject(index.error().code))
            return fail(index.error());
        if (!index)
            continue;
        if (index->isDelta()) { // slime counts, ModelExpress names
            if (!index->number("version") && index->meta("checksum_format") == "adler32")
                return true;
            continue;
        }
        for (const ObjectInfo& data : version.objects) {
            if (!isDataFile(data.key))
                continue;
            const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, data, task);
            if (!header && !concernsOneObject(header.error().code))
                return fail(header.error());
            if (header && isWrittenByModelExpress(*header))
                return true;
            break; // its other files would not tell more
        }
    }
    return false;
}

std::vector<VersionObjects> ModelExpressLayout::group(const std::vector<ObjectInfo>& listing) const
{
    const auto folders = indexedFolders(listing);
    const auto best = std::min_element(folders.begin(), folders.end(),
                                       [](const auto& a, const auto& b) { return isBetterRoot(a.first, b.first); });
    if (best == folders.end())
        return {};
    std::map<std::string_view, VersionObjects> found;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        const SplitKey folder = splitKey(key.folder);
        const std::optional<std::int64_t> step = numberOf(folder.file);
        if (beside::holds(object.key) || key.folder.empty() || folder.folder != best->first || !step)
            continue;
        VersionObjects& version = found[key.folder];
        version.step = *step;
        version.name = std::string(key.folder);
        version.objects.push_back(object);
    }
    return inOrder(std::move(found));
}

Result<VersionIndex> ModelExpressLayout::index(const ObjectStore& store, const VersionObjects& version,
                                               TaskContext& task) const
{
    const auto object = objectIndex(version, joinKey(version.name, CheckpointIndexName));
    if (!object)
        return fail(Code::Unfinished,
                    fmt::format("holds files but no {}: publication not finished", CheckpointIndexName), version.name);
    DS_TRY(const IndexJson index, readIndexJson(store, version.objects[*object], task));
    if (index.isDelta())
        return readSlimeDelta(store, version, index, numberOf, task);
    if (!index.hasMetadata)
        return fail(Code::Hostile, "the index has no metadata, so it does not say what it is",
                    version.objects[*object].key);
    for (const std::string_view key : { "base_version", "compression_format", "checksum_format" }) {
        if (index.metadata.find(key) != index.metadata.end())
            return fail(Code::Hostile, fmt::format("the index has {} like a delta, but no delta_encoding", key),
                        version.objects[*object].key);
    }
    return readFull(store, version, index, task);
}

Result<std::unique_ptr<PatchStream>> ModelExpressLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                              const VersionIndex&, const TensorEntry& entry,
                                                              const TensorInfo& target,
                                                              const StreamOptions& options) const
{
    return openSlimeEntry(store, version, entry, target, options);
}

} // namespace deltascope
