#include "disk_place.h"

#include "errno_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>

namespace deltascope {

namespace {

constexpr int OnTheWay = O_PATH;

}

Result<FileHandle> openFolderAt(int folder, const std::string& name, int flags, const std::string& path)
{
    FileHandle opened = openAt(folder, name.c_str(), flags | O_DIRECTORY | O_NOFOLLOW);
    if (opened)
        return opened;
    const int error = errno; // ENOTDIR for a link as for a file
    struct stat status = {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
        return fail(Code::Auth, fmt::format("\"{}\" is a symbolic link, and none is followed here", name), path,
                    "Replace the link by a folder, or choose another destination.");
    return failErrno("open", error, path);
}

Result<DiskPlace> placeOf(const std::string& root, const std::string& path)
{
    if (root.empty())
        return DiskPlace { {}, path };
    const std::size_t begin = root.find_last_not_of('/') + 1; // of what is below the root
    if (path.compare(0, begin, root, 0, begin) != 0 || (path.size() > begin && path[begin] != '/'))
        return fail(Code::Usage, "this is not below " + root, path);
    FileHandle folder = openAt(AT_FDCWD, root.c_str(), OnTheWay | O_DIRECTORY);
    if (!folder)
        return failErrno("open", errno, root);
    std::string name;
    for (std::size_t at = begin; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        std::string part = path.substr(at + 1, end - at - 1);
        at = end;
        if (part.empty() || part == ".")
            continue;
        if (part == "..")
            return fail(Code::Usage, "\"..\" leads out of " + root, path);
        if (!name.empty()) {
            DS_TRY(folder, openFolderAt(folder.get(), name, OnTheWay, path));
        }
        name = std::move(part);
    }
    return DiskPlace { std::move(folder), name.empty() ? "." : name };
}

} // namespace deltascope
