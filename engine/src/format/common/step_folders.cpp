#include "format/common/step_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

/// The version that is the source itself.
constexpr std::string_view RootName = ".";
constexpr std::string_view UnfinishedSuffix = "-unfinished";

/// Whether a key is that of the file by which NeMo marks a folder while it writes it.
bool marksUnfinished(std::string_view key, std::string_view version)
{
    if (!key.ends_with(UnfinishedSuffix))
        return false;
    const std::string_view folder = key.substr(0, key.size() - UnfinishedSuffix.size());
    return version.starts_with(folder) && (version.size() == folder.size() || version[folder.size()] == '/');
}

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

std::vector<VersionObjects> folderVersions(const std::vector<ObjectInfo>& listing, const CheckpointFolders& folders,
                                           const std::function<std::vector<ObjectInfo>(const std::string&)>& objectsIn)
{
    std::vector<const ObjectInfo*> markers;
    for (const ObjectInfo& object : listing) {
        if (object.key.ends_with(UnfinishedSuffix))
            markers.push_back(&object);
    }
    std::vector<VersionObjects> versions;
    for (const CheckpointFolder& folder : folders.steps) {
        std::vector<ObjectInfo> objects = objectsIn(folder.folder);
        for (const ObjectInfo* marker : markers) {
            if (marksUnfinished(marker->key, folder.folder))
                objects.push_back(*marker);
        }
        versions.push_back(folderVersion(folder.step, folder.folder, std::move(objects)));
    }
    if (folders.beside && !versions.empty())
        versions.back().notes.push_back(*folders.beside);
    return versions;
}

std::optional<Error> markedUnfinished(const VersionObjects& version)
{
    for (const ObjectInfo& object : version.objects) {
        if (marksUnfinished(object.key, version.name))
            return Error { Code::Unfinished, fmt::format("{} marks this checkpoint as unfinished", object.key),
                           version.name, version.step,
                           "Wait until the trainer removes that file; if it was killed, use another version." };
    }
    return std::nullopt;
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
