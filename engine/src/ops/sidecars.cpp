#include "sidecars.h"

#include "format/common/object_names.h"
#include "format/common/step_folders.h"
#include "output_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>

namespace deltascope {

namespace {

/// Why a file beside the weights is not copied; nothing if it may be.
Result<std::optional<Error>> whyLeftOut(const ObjectStore& store, const ObjectInfo& object, const std::string& name,
                                        TaskContext& task)
{
    std::string reason;
    if (!object.oddity.empty()) {
        reason = "it is " + object.oddity;
    } else {
        DS_TRY(const bool leaves, store.leadsOutside(object.key, task));
        if (leaves)
            reason = "it is a link to a file outside of the source";
    }
    if (reason.empty())
        return std::optional<Error>();
    return std::optional(Error { Code::Stray, fmt::format("{} is left out: {}", name, reason), object.key, std::nullopt,
                                 "Copy the file beside the checkpoint if it belongs to it." });
}

/// File name -> where it is.
using FoundSidecars = std::map<std::string, std::pair<const ObjectStore*, ObjectInfo>, std::less<>>;

/// Of one name the first.
void collect(FoundSidecars& found, const ObjectStore& store, const std::vector<ObjectInfo>& objects)
{
    for (const ObjectInfo& object : objects) {
        const std::size_t slash = object.key.rfind('/');
        const std::string name = slash == std::string::npos ? object.key : object.key.substr(slash + 1);
        if (isSidecar(name))
            found.try_emplace(name, &store, object);
    }
}

constexpr std::string_view ConfigName = "config.json";

/// The objects that lie in the folders above a version, nearest first, or in a folder "huggingface" there.
void collectAbove(FoundSidecars& found, const Run& run, const VersionObjects& version,
                  const std::vector<ObjectInfo>& listing)
{
    const auto collectIn = [&](std::string_view folder) {
        std::vector<ObjectInfo> inside;
        std::copy_if(listing.begin(), listing.end(), std::back_inserter(inside),
                     [&](const ObjectInfo& object) { return splitKey(object.key).folder == folder; });
        collect(found, *run.store, inside);
    };
    for (std::string_view folder = folderOf(version); !folder.empty() && !found.contains(ConfigName);) {
        folder = splitKey(folder).folder;
        collectIn(folder);
        if (!found.contains(ConfigName))
            collectIn(joinKey(folder, "huggingface"));
    }
}

/// Where frameworks put the config of a checkpoint, if it does not lie beside the weights: above them, or with another
/// checkpoint of the run.
Result<void> collectFromRun(FoundSidecars& found, const Run& run, const Plan& plan, TaskContext& task)
{
    if (plan.fromExternalBase || !run.layout->standAlone() || run.layout->holdsAdapters() || found.contains(ConfigName))
        return {};
    DS_TRY(const std::vector<ObjectInfo> listing, listAll(*run.store, "", task));
    const std::size_t first = plan.links.front().version;
    collectAbove(found, run, run.versions[first].objects, listing);
    for (std::size_t i = 0; i < run.versions.size() && !found.contains(ConfigName); ++i) {
        const Version& other = run.versions[(first + run.versions.size() - 1 - i) % run.versions.size()];
        collect(found, *run.store, other.objects.objects);
        collectAbove(found, run, other.objects, listing);
    }
    return {};
}

FoundSidecars sidecarsOf(const Run& run, const Plan& plan)
{
    FoundSidecars found;
    if (!plan.fromExternalBase) {
        const PlanLink& first = plan.links.front();
        collect(found, *run.store, run.versions[first.version].objectsOf(first.form).objects);
    }
    if (run.base)
        collect(found, *run.base->store, run.base->objects.objects);
    return found;
}

}

std::vector<ObjectInfo> sidecarsOfBase(const Run& run, const Plan& plan)
{
    std::vector<ObjectInfo> objects;
    for (const auto& [name, from] : sidecarsOf(run, plan)) {
        if (run.base && from.first == run.base->store.get())
            objects.push_back(from.second);
    }
    return objects;
}

Result<Sidecars> copySidecars(Workbench& bench, const Run& run, const Plan& plan, const std::string& folder,
                              const ObjectStore* extra, TaskContext& task)
{
    FoundSidecars found = sidecarsOf(run, plan);
    DS_CHECK(collectFromRun(found, run, plan, task));
    std::vector<ObjectInfo> extraObjects;
    if (extra) {
        DS_TRY(extraObjects, listAll(*extra, "", task));
        std::erase_if(extraObjects, [](const ObjectInfo& object) { return object.key.find('/') != std::string::npos; });
        collect(found, *extra, extraObjects);
    }
    Sidecars copied;
    constexpr std::uint64_t MaxSidecarBytes = 256U << 20;
    for (const auto& [name, from] : found) {
        const auto& [store, object] = from;
        DS_TRY(std::optional<Error> reason, whyLeftOut(*store, object, name, task));
        if (reason) {
            copied.leftOut.push_back(std::move(*reason));
            continue;
        }
        DS_TRY(const std::vector<std::byte> bytes, readWhole(*store, object.key, MaxSidecarBytes, task));
        const std::string path = folder + "/" + name;
        if (bench.disk->exists(path)) // of an earlier attempt
            DS_CHECK(bench.disk->removeFile(path));
        DS_CHECK(writeTextFile(*bench.disk, path, asText(bytes)));
        copied.names.push_back(name);
    }
    return copied;
}

} // namespace deltascope
