#include "format/hf/hf_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/checkpoint_folders.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/step_folders.h"
#include "format/hf/checkpoint_index.h"
#include "format/hf/trainer_state.h"

#include <algorithm>
#include <array>
#include <map>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedIndices = 8;

bool startsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool endsWith(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool isTemporary(std::string_view file)
{
    return endsWith(file, ".tmp") || endsWith(file, ".incomplete") || endsWith(file, ".part")
        || startsWith(file, "tmp-rank");
}

/// Files that mark a folder of another layout (rules of docs/formats/hf.md, "Not ours").
bool marksOtherLayout(std::string_view file)
{
    constexpr std::array<std::string_view, 5> Markers = { "manifest.json", "sparse_manifest.json",
                                                          "sparse_update_manifest.json", ".metadata", "STABLE" };
    if (std::find(Markers.begin(), Markers.end(), file) != Markers.end())
        return true;
    const bool isFlush = startsWith(file, "rank") && file.find("_flush") == 8 && endsWith(file, ".safetensors");
    return isFlush || endsWith(file, ".distcp") || startsWith(file, "READY-");
}

/// What the names in one folder say about it.
struct Folder {
    std::vector<ObjectInfo> objects;
    bool isCheckpoint = false;
    bool isOther = false;
    bool isStable = false; ///< has prime-rl's marker
};

std::map<std::string, Folder, std::less<>> foldersOf(const std::vector<ObjectInfo>& listing)
{
    std::map<std::string, Folder, std::less<>> folders;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        if (beside::holds(object.key) || isTemporary(key.file))
            continue;
        // grail puts its two forms of a window into subfolders
        const SplitKey above = splitKey(key.folder);
        if (!above.folder.empty() && (above.file == "DELTA" || above.file == "FULL")) {
            folders[std::string(above.folder)].isOther = true;
            continue;
        }
        Folder& folder = folders[std::string(key.folder)];
        folder.isCheckpoint |=
            key.file == CheckpointFileName || key.file == CheckpointIndexName || isShardName(key.file);
        folder.isOther |= marksOtherLayout(key.file);
        folder.isStable |= key.file == "STABLE";
        folder.objects.push_back(object);
    }
    // one marked step_N folder makes a prime-rl run of all of them: the others were abandoned
    const bool primeRl =
        std::any_of(folders.begin(), folders.end(), [](const auto& entry) { return entry.second.isStable; });
    for (auto& [name, folder] : folders)
        folder.isOther |= primeRl && startsWith(splitKey(name).file, "step_");
    return folders;
}

} // namespace

std::vector<VersionObjects> HfLayout::group(const std::vector<ObjectInfo>& listing) const
{
    std::map<std::string, Folder, std::less<>> folders = foldersOf(listing);
    std::vector<std::string_view> checkpoints;
    for (const auto& [name, folder] : folders) {
        if (folder.isCheckpoint && !folder.isOther)
            checkpoints.push_back(name);
    }
    return onePerStep(
        folderVersions(listing, chooseCheckpoints(checkpoints, m_searchDepth),
                       [&](const std::string& name) { return std::move(folders.find(name)->second.objects); }));
}

Result<bool> HfLayout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                  TaskContext& task) const
{
    const std::vector<VersionObjects> versions = group(listing);
    std::size_t probed = 0;
    for (const VersionObjects& version : versions) {
        const auto index = objectIndex(version, joinKey(folderOf(version), CheckpointIndexName));
        if (!index || ++probed > MaxProbedIndices)
            continue;
        DS_CHECK(task.checkpoint());
        const Result<IndexJson> read = readIndexJson(store, version.objects[*index], task);
        if (!read && !concernsOneObject(read.error().code))
            return fail(read.error());
        if (read && read->isDelta())
            return false;
    }
    return !versions.empty();
}

Result<VersionIndex> HfLayout::index(const ObjectStore& store, const VersionObjects& version, TaskContext& task) const
{
    if (std::optional<Error> unfinished = markedUnfinished(version))
        return fail(std::move(*unfinished));
    DS_TRY(VersionIndex index, readCheckpointIndex(store, version, folderOf(version), task));
    DS_TRY(std::optional<Error> other, contradictingTrainerState(store, version, folderOf(version), task));
    if (other)
        index.notes.push_back(std::move(*other));
    return index;
}

Result<std::unique_ptr<PatchStream>> HfLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                    const VersionIndex&, const TensorEntry& entry,
                                                    const TensorInfo& target, const StreamOptions& options) const
{
    return openFullTensor(store, version, entry, target, options);
}

} // namespace deltascope
