#include "format/common/step_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

/// The version that is the source itself.
constexpr std::string_view RootName = ".";

} // namespace

VersionObjects folderVersion(std::int64_t step, std::string_view folder, std::vector<ObjectInfo> objects)
{
    VersionObjects version;
    version.step = step;
    version.name = folder.empty() ? RootName : folder;
    version.objects = std::move(objects);
    std::sort(version.objects.begin(), version.objects.end(),
              [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
    return version;
}

std::vector<VersionObjects> folderVersions(const CheckpointFolders& folders,
                                           const std::function<std::vector<ObjectInfo>(const std::string&)>& objectsIn)
{
    std::vector<VersionObjects> versions;
    for (const CheckpointFolder& folder : folders.steps)
        versions.push_back(folderVersion(folder.step, folder.folder, objectsIn(folder.folder)));
    if (folders.beside && !versions.empty())
        versions.back().notes.push_back(*folders.beside);
    return versions;
}

std::string_view folderOf(const VersionObjects& version) noexcept
{
    return version.name == RootName ? std::string_view() : std::string_view(version.name);
}

std::vector<VersionObjects> onePerStep(std::vector<VersionObjects> versions)
{
    std::map<std::int64_t, VersionObjects> steps;
    for (VersionObjects& version : versions) {
        const auto [at, isNew] = steps.try_emplace(version.step, version);
        if (isNew)
            continue;
        const bool sameTime = version.publishedUs() == at->second.publishedUs();
        if (version.publishedUs() > at->second.publishedUs())
            std::swap(at->second, version);
        at->second.notes.push_back(
            Error { Code::Fork,
                    fmt::format("step {} is in two folders; {}{} is read, {} is not", version.step, at->second.name,
                                sameTime ? "" : ", the newer one,", version.name),
                    version.name, version.step, "Move one of the two folders away." });
    }
    std::vector<VersionObjects> out;
    for (auto& [step, version] : steps)
        out.push_back(std::move(version));
    return out;
}

} // namespace deltascope
