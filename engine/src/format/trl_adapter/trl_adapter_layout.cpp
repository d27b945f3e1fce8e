#include "format/trl_adapter/trl_adapter_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/common/step_folders.h"
#include "format/hf/hf_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>

namespace deltascope {

namespace {

constexpr std::string_view CacheFolder = ".vllm_lora";

/// "root/trl-policy-v7/file": a policy's version. Staging folders begin with a dot and end with ".tmp".
struct AdapterKey {
    std::string_view root;
    std::string_view folder;
    std::string_view policy; ///< "trl-policy"
    std::int64_t step = 0;
};

std::optional<AdapterKey> parseKey(std::string_view key)
{
    if (beside::holds(key))
        return std::nullopt;
    const SplitKey folder = splitKey(splitKey(key).folder);
    const std::size_t mark = folder.file.rfind("-v");
    if (mark == std::string_view::npos || mark == 0 || folder.file.starts_with('.'))
        return std::nullopt;
    const std::optional<std::int64_t> step = parseNumber(folder.file.substr(mark + 2));
    if (!step)
        return std::nullopt;
    return AdapterKey { folder.folder, splitKey(key).folder, folder.file.substr(0, mark), *step };
}

/// Whether TRL's folders for vLLM lie here.
bool holdsPolicies(const std::vector<ObjectInfo>& listing)
{
    return std::any_of(listing.begin(), listing.end(), [](const ObjectInfo& object) {
        const std::string_view file = splitKey(object.key).file;
        return (file == AdapterConfigName || file == AdapterWeightsName) && parseKey(object.key);
    });
}

/// Whether whole models are what a source of these adapters is about: one lies in the source itself, or they are a run
/// of their own. Merged models are not: one without a step, or of some of the steps of which adapters are there.
bool areTheRun(const std::vector<VersionObjects>& models, const CheckpointFolders& adapters)
{
    std::set<std::int64_t> steps;
    for (const CheckpointFolder& adapter : adapters.steps) {
        if (!stepFolderOf(adapter.folder, adapter.step).empty())
            steps.insert(adapter.step);
    }
    if (steps.empty())
        return !models.empty();
    const auto isMerged = [&](const VersionObjects& model) {
        const std::string_view folder = folderOf(model);
        return !folder.empty()
            && (stepFolderOf(folder, model.step).empty()
                || (models.size() < steps.size() && steps.contains(model.step)));
    };
    return !std::all_of(models.begin(), models.end(), isMerged);
}

/// Checkpoints of adapters, as Trainer and PEFT save them: "checkpoint-10/adapter_model.safetensors", and the last one
/// in the source itself. Nothing where whole models are the run, or where TRL's own folders lie.
std::vector<VersionObjects> checkpointsOf(const std::vector<ObjectInfo>& listing, std::size_t searchDepth)
{
    if (holdsPolicies(listing))
        return {};
    struct Folder {
        std::vector<ObjectInfo> objects;
        bool hasWeights = false;
        bool hasConfig = false;
    };
    std::map<std::string, Folder, std::less<>> folders;
    for (const ObjectInfo& object : listing) {
        if (beside::holds(object.key))
            continue;
        const SplitKey key = splitKey(object.key);
        Folder& folder = folders[std::string(key.folder)];
        folder.hasWeights |= key.file == AdapterWeightsName;
        folder.hasConfig |= key.file == AdapterConfigName;
        folder.objects.push_back(object);
    }
    std::vector<std::string_view> adapters;
    for (const auto& [name, folder] : folders) {
        if (folder.hasWeights && folder.hasConfig)
            adapters.push_back(name);
    }
    const CheckpointFolders chosen = chooseCheckpoints(adapters, searchDepth);
    const bool hasSteps = std::any_of(chosen.steps.begin(), chosen.steps.end(),
                                      [](const CheckpointFolder& step) { return !step.folder.empty(); });
    if (!hasSteps || areTheRun(HfLayout(searchDepth).group(listing), chosen))
        return {};
    return onePerStep(folderVersions(
        listing, chosen, [&](const std::string& name) { return std::move(folders.find(name)->second.objects); }));
}

bool isVersionKey(const ObjectInfo& object) { return parseKey(object.key).has_value(); }

/// Whether the source itself is one adapter, as PEFT saves it and materialize writes it: no other weights lie there but
/// those of adapters.
bool isOneAdapter(const std::vector<ObjectInfo>& listing)
{
    const auto has = [&](std::string_view key) {
        return std::any_of(listing.begin(), listing.end(),
                           [key](const ObjectInfo& object) { return object.key == key; });
    };
    return has(AdapterConfigName) && has(AdapterWeightsName)
        && std::none_of(listing.begin(), listing.end(), isVersionKey)
        && std::all_of(listing.begin(), listing.end(), [](const ObjectInfo& object) {
               const std::string_view file = splitKey(object.key).file;
               return beside::holds(object.key) || !isDataFile(file) || file == AdapterWeightsName;
           });
}

}

Result<bool> TrlAdapterLayout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                          TaskContext&) const
{
    // The source may be the cache folder itself or lie above it; elsewhere adapters are not TRL's.
    const bool isCache = splitKey(store.uri()).file == CacheFolder;
    return isOneAdapter(listing) || !checkpointsOf(listing, m_searchDepth).empty()
        || std::any_of(listing.begin(), listing.end(), [&](const ObjectInfo& object) {
               const std::optional<AdapterKey> key = parseKey(object.key);
               if (!key || splitKey(object.key).file != AdapterConfigName)
                   return false;
               return splitKey(key->root).file == CacheFolder || (key->root.empty() && isCache)
                   || key->policy == "trl-policy";
           });
}

std::vector<VersionObjects> TrlAdapterLayout::group(const std::vector<ObjectInfo>& listing) const
{
    if (std::vector<VersionObjects> checkpoints = checkpointsOf(listing, m_searchDepth); !checkpoints.empty())
        return checkpoints;
    if (isOneAdapter(listing)) {
        std::vector<ObjectInfo> objects;
        std::copy_if(listing.begin(), listing.end(), std::back_inserter(objects),
                     [](const ObjectInfo& object) { return object.key.find('/') == std::string::npos; });
        return { folderVersion(0, {}, std::move(objects)) };
    }
    std::optional<AdapterKey> first; ///< one policy: the one closest to the root, then the first by name
    for (const ObjectInfo& object : listing) {
        const std::optional<AdapterKey> key = parseKey(object.key);
        if (key && (!first || isBetterRoot(key->root, first->root)))
            first = key;
    }
    std::map<std::string_view, VersionObjects> folders;
    for (const ObjectInfo& object : listing) {
        const std::optional<AdapterKey> key = parseKey(object.key);
        if (!key || key->root != first->root || key->policy != first->policy)
            continue;
        VersionObjects& version = folders[key->folder];
        version.step = key->step;
        version.name = std::string(key->folder);
        version.objects.push_back(object);
    }
    return inOrder(std::move(folders));
}

Result<VersionIndex> TrlAdapterLayout::index(const ObjectStore& store, const VersionObjects& version,
                                             TaskContext& task) const
{
    DS_CHECK(task.checkpoint());
    if (std::optional<Error> marked = markedUnfinished(version))
        return fail(std::move(*marked));
    const auto object = objectIndex(version, joinKey(folderOf(version), AdapterWeightsName));
    const auto config = objectIndex(version, joinKey(folderOf(version), AdapterConfigName));
    if (!object || !config)
        return fail(Code::Unfinished,
                    fmt::format("lacks {}: not a whole adapter",
                                object       ? std::string(AdapterConfigName)
                                    : config ? std::string(AdapterWeightsName)
                                             : fmt::format("{} and {}", AdapterWeightsName, AdapterConfigName)),
                    version.name);
    if (const ObjectInfo& settings = version.objects[*config]; !settings.oddity.empty())
        return fail(noFileError(settings));
    DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[*object], task));
    return fullIndexOf(std::move(header), *object);
}

Result<std::unique_ptr<PatchStream>> TrlAdapterLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                            const VersionIndex&, const TensorEntry& entry,
                                                            const TensorInfo& target,
                                                            const StreamOptions& options) const
{
    return openFullTensor(store, version, entry, target, options);
}

} // namespace deltascope
