#include "format/modelexpress/modelexpress_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/counted_name.h"
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

bool isAdler(std::string_view text) { return text.size() == 8 && isLowerHex(text); }

/// The sums that publishers of this layout know.
bool hasAdlerSums(const IndexJson& index) { return index.meta("checksum_format") == "adler32"; }

/// A folder that may be a version's; those of slime have names of their own.
bool mayBeVersion(std::string_view folder) { return !folder.empty() && !folder.starts_with("weight_v"); }

/// Folders that hold an index, by the folder above them.
std::map<std::string_view, std::set<std::string_view>> indexedFolders(const std::vector<ObjectInfo>& listing)
{
    std::map<std::string_view, std::set<std::string_view>> folders;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        const SplitKey folder = splitKey(key.folder);
        if (!beside::holds(object.key) && mayBeVersion(folder.file) && key.file == CheckpointIndexName)
            folders[folder.folder].insert(folder.file);
    }
    return folders;
}

/// The one word in front of the numbers of all names; nothing if some have none, or another one.
std::optional<std::string_view> wordOf(const std::set<std::string_view>& names)
{
    std::optional<std::string_view> word;
    for (const std::string_view name : names) {
        const std::optional<CountedName> counted = countedName(name);
        if (!counted || (word && *word != counted->word))
            return std::nullopt;
        word = counted->word;
    }
    return word;
}

/// Numbers by time, until the links of the versions are known.
std::vector<VersionObjects> byTime(std::map<std::string_view, VersionObjects> folders)
{
    std::vector<VersionObjects> versions;
    for (auto& [name, version] : folders) {
        sortByKey(version.objects);
        versions.push_back(std::move(version));
    }
    std::stable_sort(versions.begin(), versions.end(), [](const VersionObjects& a, const VersionObjects& b) {
        return a.publishedUs() < b.publishedUs();
    });
    for (std::size_t i = 0; i < versions.size(); ++i)
        versions[i].step = static_cast<std::int64_t>(i) + 1;
    return versions;
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

/// What the first file of a version without delta_encoding shows of its writer.
enum class Writer : std::uint8_t {
    Unknown,
    ModelExpress, ///< a sum for each tensor
    HotLoad, ///< the same, and payload without a word of its codec, which the request to load it carries
};

Writer writerOf(const SafetensorsHeader& header)
{
    std::map<std::string, std::string> digests;
    addDigests(header, digests);
    const std::vector<StoredTensor>& tensors = header.tensors();
    if (tensors.empty() || digests.size() != tensors.size())
        return Writer::Unknown;
    const bool isPayload = std::all_of(tensors.begin(), tensors.end(), [](const StoredTensor& stored) {
        return stored.info.dtype == Dtype::U8 && stored.info.shape.size() == 1;
    });
    return isPayload ? Writer::HotLoad : Writer::ModelExpress;
}

Result<Writer> writerOf(const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    for (const ObjectInfo& data : version.objects) {
        if (!isDataFile(data.key))
            continue;
        const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, data, task);
        if (header)
            return writerOf(*header);
        if (!concernsOneObject(header.error().code))
            return fail(header.error());
        break; // its other files would not tell more
    }
    return Writer::Unknown;
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
        else if (hasAdlerSums(index))
            return fail(Code::Digest,
                        fmt::format("has no checksum for {}, and its index says that every tensor has one",
                                    quoteName(entry.name())),
                        version.name);
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
    bool hasSums = false;
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
        if (index->isDelta() ? hasAdlerSums(*index) && !index->meta("base_version").empty() : hasAdlerSums(*index))
            return true;
        if (index->isDelta())
            continue;
        DS_TRY(const Writer writer, writerOf(store, version, task));
        if (writer == Writer::HotLoad)
            return false;
        hasSums = hasSums || writer == Writer::ModelExpress;
    }
    return hasSums;
}

std::vector<VersionObjects> ModelExpressLayout::group(const std::vector<ObjectInfo>& listing) const
{
    const auto folders = indexedFolders(listing);
    const auto best = std::min_element(folders.begin(), folders.end(),
                                       [](const auto& a, const auto& b) { return isBetterRoot(a.first, b.first); });
    if (best == folders.end())
        return {};
    const std::optional<std::string_view> word = wordOf(best->second);
    std::map<std::string_view, VersionObjects> found;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        const SplitKey folder = splitKey(key.folder);
        if (beside::holds(object.key) || folder.folder != best->first || !mayBeVersion(folder.file))
            continue;
        const std::optional<CountedName> counted = word ? countedName(folder.file) : std::nullopt;
        const bool isNamed = word ? counted && counted->word == *word : best->second.contains(folder.file);
        if (!isNamed)
            continue;
        VersionObjects& version = found[key.folder];
        version.step = counted ? counted->number : 0;
        version.name = std::string(key.folder);
        version.objects.push_back(object);
    }
    return word ? inOrder(std::move(found)) : byTime(std::move(found));
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
        return readSlimeDelta(store, version, index, nullptr, task);
    if (!index.hasMetadata)
        return fail(Code::Malformed, "the index has no metadata, so it does not say what it is",
                    version.objects[*object].key);
    if (const std::string_view sums = index.meta("checksum_format"); !sums.empty() && !hasAdlerSums(index))
        return fail(Code::Unsupported, fmt::format("unsupported checksum {}", quoteName(sums)),
                    version.objects[*object].key);
    for (const std::string_view key : { "base_version", "compression_format" }) {
        if (index.metadata.find(key) != index.metadata.end())
            return fail(Code::Malformed, fmt::format("the index has {} like a delta, but no delta_encoding", key),
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
