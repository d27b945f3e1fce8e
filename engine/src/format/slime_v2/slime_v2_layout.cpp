#include "format/slime_v2/slime_v2_layout.h"

#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/hf/checkpoint_index.h"
#include "format/slime_v2/slime_v2_index.h"
#include "format/slime_v2/slime_v2_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedIndices = 8;
constexpr std::string_view FolderStart = "weight_v";
constexpr std::string_view TemporaryEnd = ".tmp";

/// "root/weight_v000007/file"
struct VersionFile {
    std::string_view root;
    std::string_view folder; ///< with the root
    std::string_view file;
    std::int64_t step = 0;
};

std::optional<VersionFile> parseKey(std::string_view key)
{
    if (isOwnKey(key))
        return std::nullopt;
    const SplitKey file = splitKey(key);
    const SplitKey folder = splitKey(file.folder);
    if (folder.file.substr(0, FolderStart.size()) != FolderStart)
        return std::nullopt;
    const std::string_view digits = folder.file.substr(FolderStart.size());
    const std::optional<std::int64_t> step = parseNumber(digits);
    if (!step || !isPadded(digits, 6))
        return std::nullopt;
    return VersionFile { folder.folder, file.folder, file.file, *step };
}

/// Left over from an interrupted atomic write.
bool isTemporary(std::string_view file)
{
    return file.size() >= TemporaryEnd.size() && file.substr(file.size() - TemporaryEnd.size()) == TemporaryEnd;
}

/// The folder that holds the version folders; nothing if there is none.
std::optional<std::string_view> rootOf(const std::vector<ObjectInfo>& listing)
{
    std::optional<std::string_view> root;
    for (const ObjectInfo& object : listing) {
        const std::optional<VersionFile> file = parseKey(object.key);
        if (file && (!root || isBetterRoot(file->root, *root)))
            root = file->root;
    }
    return root;
}

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
        const Result<IndexJson> index = readIndexJson(store, version.objects[*object]);
        if (!index && !concernsOneObject(index.error().code))
            return fail(index.error());
        // ModelExpress writes the same files with names for versions ("v1")
        if (index && index->isDelta())
            return index->number("version").has_value();
    }
    return false;
}

std::vector<VersionObjects> SlimeV2Layout::group(const std::vector<ObjectInfo>& listing) const
{
    const std::optional<std::string_view> root = rootOf(listing);
    std::map<std::int64_t, VersionObjects> versions;
    for (const ObjectInfo& object : listing) {
        const std::optional<VersionFile> file = parseKey(object.key);
        if (!file || file->root != *root || isTemporary(file->file))
            continue;
        VersionObjects& version = versions[file->step];
        version.step = file->step;
        version.name = std::string(file->folder);
        version.objects.push_back(object);
    }
    std::vector<VersionObjects> out;
    for (auto& [step, version] : versions) {
        std::sort(version.objects.begin(), version.objects.end(),
                  [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
        out.push_back(std::move(version));
    }
    return out;
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
    DS_TRY(const IndexJson index, readIndexJson(store, version.objects[*object]));
    if (!index.hasMetadata)
        return fail(Code::Hostile, "the index has no metadata, so it does not say what it is",
                    version.objects[*object].key);
    // One damaged key must not turn a delta into a full version.
    for (const std::string_view key : { "base_version", "compression_format", "checksum_format" }) {
        if (!index.isDelta() && index.metadata.find(key) != index.metadata.end())
            return fail(Code::Hostile, fmt::format("the index has {} like a delta, but no delta_encoding", key),
                        version.objects[*object].key);
    }
    DS_TRY(VersionIndex out,
           index.isDelta() ? readSlimeDelta(store, version, index, task)
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
    const auto payload = [&] {
        const Extent& extent = entry.extents.at(0);
        return BufferedExtent(store, version.objects.at(extent.object).key, extent.begin, extent.bytes,
                              options.bufferBytes);
    };
    switch (static_cast<SlimeEncoding>(entry.encoding)) {
    case SlimeEncoding::None:
        return openFullTensor(store, version, entry, target, options);
    case SlimeEncoding::Xor:
        return std::unique_ptr<PatchStream>(std::make_unique<SlimeXorStream>(payload(), target));
    case SlimeEncoding::Overwrite:
        return std::unique_ptr<PatchStream>(std::make_unique<SlimeOverwriteStream>(payload(), payload(), target));
    }
    return fail(Code::Internal, "an entry with an encoding that this layout does not have", entry.name);
}

} // namespace deltascope
