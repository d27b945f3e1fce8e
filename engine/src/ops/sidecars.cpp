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

/// By file name.
using FoundSidecars = std::map<std::string, CheckedFiles::File, std::less<>>;

/// Of one name the first. `step` and `mirror`: of each File.
void collect(FoundSidecars& found, const std::shared_ptr<const ObjectStore>& store,
             const std::vector<ObjectInfo>& objects, std::optional<std::int64_t> step, const std::string& mirror)
{
    for (const ObjectInfo& object : objects) {
        const std::size_t slash = object.key.rfind('/');
        const std::string name = slash == std::string::npos ? object.key : object.key.substr(slash + 1);
        if (isSidecar(name))
            found.try_emplace(name, CheckedFiles::File { store, object, step, mirror });
    }
}
void collect(FoundSidecars& found, const Run& run, const VersionObjects& version)
{
    collect(found, run.store, version.objects, version.step, version.mirror);
}
void collect(FoundSidecars& found, const ExternalBase& base)
{
    collect(found, base.store, base.objects.objects, std::nullopt, {});
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
        collect(found, run.store, inside, version.step, {});
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
        collect(found, run, other.objects);
        collectAbove(found, run, other.objects, listing);
    }
    return {};
}

Result<std::string> sidecarText(CheckedFiles& files, const CheckedFiles::File& file, TaskContext& task)
{
    constexpr std::uint64_t MaxSidecarBytes = 256U << 20;
    const ObjectInfo& object = file.object;
    if (object.sizeBytes > MaxSidecarBytes)
        return fail(Code::Hostile,
                    fmt::format("{} bytes, where at most {} make sense", object.sizeBytes, MaxSidecarBytes),
                    object.key);
    std::string text;
    text.reserve(object.sizeBytes);
    const auto append = [&](std::uint64_t, ByteSpan bytes) -> Result<void> {
        text += asText(bytes);
        return {};
    };
    DS_CHECK(files.read(file, append, task));
    return text;
}

FoundSidecars sidecarsOf(const Run& run, const Plan& plan)
{
    FoundSidecars found;
    if (!plan.fromExternalBase) {
        const PlanLink& first = plan.links.front();
        const Version& version = run.versions[first.version];
        const VersionObjects& objects = version.objectsOf(first.form);
        collect(found, run.store, objects.objects, stepToTell(run, version), objects.mirror);
    }
    if (run.base)
        collect(found, *run.base);
    return found;
}

}

std::vector<ObjectInfo> sidecarsOfBase(const Run& run, const Plan& plan)
{
    std::vector<ObjectInfo> objects;
    for (const auto& [name, file] : sidecarsOf(run, plan)) {
        if (run.base && file.store == run.base->store)
            objects.push_back(file.object);
    }
    return objects;
}

Result<Sidecars> copySidecars(FileSystem& disk, CheckedFiles& files, const Run& run, const Plan& plan,
                              const std::string& folder, const std::shared_ptr<const ObjectStore>& extra,
                              TaskContext& task)
{
    FoundSidecars found = sidecarsOf(run, plan);
    DS_CHECK(collectFromRun(found, run, plan, task));
    if (extra) {
        DS_TRY(std::vector<ObjectInfo> objects, listAll(*extra, "", task));
        std::erase_if(objects, [](const ObjectInfo& object) { return object.key.find('/') != std::string::npos; });
        collect(found, extra, objects, std::nullopt, {});
    }
    Sidecars copied;
    for (auto& [name, file] : found) {
        DS_TRY(std::optional<Error> reason, whyLeftOut(*file.store, file.object, name, task));
        if (reason) {
            copied.leftOut.push_back(std::move(*reason));
            continue;
        }
        DS_TRY(file.object, file.store->stat(file.object.key, task)); // the weights took their time
        DS_TRY(const std::string text, sidecarText(files, file, task));
        const std::string path = folder + "/" + name;
        if (disk.exists(path)) // of an earlier attempt
            DS_CHECK(disk.removeFile(path));
        DS_CHECK(writeTextFile(disk, path, text));
        copied.names.push_back(name);
    }
    return copied;
}

} // namespace deltascope
