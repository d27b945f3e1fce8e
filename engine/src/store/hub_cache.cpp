#include "hub_cache.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <system_error>
#include <vector>

namespace deltascope {

namespace {

namespace fs = std::filesystem;

bool isFolder(const fs::path& path)
{
    std::error_code ignored; // what cannot be looked at is none
    return fs::is_directory(path, ignored);
}

/// What refs/main says; empty where it says nothing that can be the name of a folder.
std::string mainRevision(const fs::path& repository)
{
    constexpr std::size_t MostBytes = 256;
    std::ifstream file(repository / "refs" / "main");
    std::string revision(MostBytes, '\0');
    file.read(revision.data(), static_cast<std::streamsize>(revision.size()));
    revision.resize(static_cast<std::size_t>(file.gcount()));
    revision.erase(revision.find_last_not_of(" \r\n") + 1);
    const bool isName = revision.find('/') == std::string::npos && revision.find('\0') == std::string::npos
        && !revision.starts_with('.');
    return isName ? revision : std::string();
}

std::vector<std::string> snapshotsIn(const fs::path& repository)
{
    std::vector<std::string> names;
    std::error_code ended;
    for (fs::directory_iterator at(repository / "snapshots", ended), end; !ended && at != end; at.increment(ended)) {
        if (isFolder(at->path()))
            names.push_back("snapshots/" + at->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}

Result<std::string> folderMeantBy(const std::string& path)
{
    const fs::path repository(path);
    if (!isFolder(repository / "snapshots") || !isFolder(repository / "blobs") || !isFolder(repository / "refs"))
        return path;
    if (const std::string revision = mainRevision(repository);
        !revision.empty() && isFolder(repository / "snapshots" / revision))
        return (repository / "snapshots" / revision).string();
    const std::vector<std::string> snapshots = snapshotsIn(repository);
    if (snapshots.size() == 1)
        return (repository / snapshots.front()).string();
    return fail(
        Code::Layout,
        snapshots.empty()
            ? std::string("this is a model in the cache of the Hugging Face Hub, and no snapshot of it is there")
            : fmt::format("this is a model in the cache of the Hugging Face Hub, and refs/main names none of "
                          "its snapshots: {}",
                          fmt::join(snapshots, ", ")),
        path, snapshots.empty() ? "Download it again (hf download)." : "Name the folder of one of them.");
}

} // namespace deltascope
