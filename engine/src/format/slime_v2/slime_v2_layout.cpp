#include "format/slime_v2/slime_v2_layout.h"

#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/hf/checkpoint_index.h"
#include "format/slime_v2/slime_v2_index.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedIndices = 8;
constexpr NumberedFolders Folders { "weight_v", 6 };

/// A full version in one file: model.safetensors and no other data file.
bool isSingleFile(const VersionObjects& version)
{
    const auto isData = [](const ObjectInfo& object) { return isDataFile(object.key); };
    return objectIndex(version, joinKey(version.name, CheckpointFileName))
        && std::count_if(version.objects.begin(), version.objects.end(), isData) == 1;
}

} // namespace

Result<bool> SlimeV2Layout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                       TaskContext& task) const
{
    std::size_t probed = 0;
    for (const VersionObjects& version : group(listing)) {
        const std::optional<std::uint32_t> object = objectIndex(version, joinKey(version.name, CheckpointIndexName));
        if (!object)
            continue;
        if (++probed > MaxProbedIndices)
            break;
        DS_CHECK(task.checkpoint());
        const Result<IndexJson> index = readIndexJson(store, version.objects[*object], task);
        if (!index && !concernsOneObject(index.error().code))
            return fail(index.error());
        // ModelExpress writes the same files with names for versions ("v1")
        if (index && index->isDelta() && index->number("version"))
            return true;
    }
    return false;
}

std::vector<VersionObjects> SlimeV2Layout::group(const std::vector<ObjectInfo>& listing) const
{
    return Folders.group(listing);
}

Result<VersionIndex> SlimeV2Layout::index(const ObjectStore& store, const VersionObjects& version,
                                          TaskContext& task) const
{
    DS_CHECK(task.checkpoint());
    const std::optional<std::uint32_t> object = objectIndex(version, joinKey(version.name, CheckpointIndexName));
    if (!object) {
        if (isSingleFile(version))
            return readCheckpointIndex(store, version, version.name, task);
        return fail(
            Code::Unfinished,
            fmt::format("{} holds files but no {}: publication not finished; it is never read as a full checkpoint",
                        version.name, CheckpointIndexName),
            version.name);
    }
    DS_TRY(const IndexJson index, readIndexJson(store, version.objects[*object], task));
    if (!index.hasMetadata)
        return fail(Code::Malformed, "the index has no metadata, so it does not say what it is",
                    version.objects[*object].key);
    // One damaged key must not turn a delta into a full version.
    for (const std::string_view key : { "base_version", "compression_format", "checksum_format" }) {
        if (!index.isDelta() && index.metadata.find(key) != index.metadata.end())
            return fail(Code::Malformed, fmt::format("the index has {} like a delta, but no delta_encoding", key),
                        version.objects[*object].key);
    }
    DS_TRY(VersionIndex out,
           index.isDelta() ? readSlimeDelta(store, version, index, parseNumber, task)
                           : readShardedIndex(store, version, version.name, index, task));
    for (const auto& [name, value] : index.metadata) {
        if (isOwnFact(name) && value)
            out.facts.emplace(name, *value);
    }
    return out;
}

Result<std::unique_ptr<PatchStream>> SlimeV2Layout::open(const ObjectStore& store, const VersionObjects& version,
                                                         const VersionIndex&, const TensorEntry& entry,
                                                         const TensorInfo& target, const StreamOptions& options) const
{
    return openSlimeEntry(store, version, entry, target, options);
}

} // namespace deltascope
