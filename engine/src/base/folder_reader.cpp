#include "folder_reader.h"

#include "errno_error.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>

namespace deltascope {

namespace {

struct CloseFolder {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

EntryKind kindOfMode(mode_t mode) noexcept
{
    return S_ISREG(mode) ? EntryKind::File
        : S_ISDIR(mode)  ? EntryKind::Folder
        : S_ISLNK(mode)  ? EntryKind::Link
                         : EntryKind::Other;
}

/// Nothing: vanished.
Result<std::optional<EntryKind>> kindOf(const FileHandle& folder, const dirent& entry, std::string_view where)
{
    switch (entry.d_type) {
    case DT_REG:
        return EntryKind::File;
    case DT_DIR:
        return EntryKind::Folder;
    case DT_LNK:
        return EntryKind::Link;
    case DT_UNKNOWN:
        break;
    default:
        return EntryKind::Other;
    }
    struct stat status = {};
    if (::fstatat(folder.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return kindOfMode(status.st_mode);
    if (errno == ENOENT)
        return std::optional<EntryKind>();
    return failErrno("fstatat", errno, where);
}

} // namespace

Result<void> readFolder(const FileHandle& folder, std::string_view where, const VisitEntry& visit)
{
    FileHandle own = openAt(folder.get(), ".", O_RDONLY | O_DIRECTORY);
    if (!own)
        return failErrno("open", errno, where);
    const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(own.get()));
    if (!stream)
        return failErrno("fdopendir", errno, where);
    own.release();

    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr)
            break;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..")
            continue;
        DS_TRY(const std::optional<EntryKind> kind, kindOf(folder, *entry, where));
        if (kind)
            visit(name, *kind);
    }
    if (errno != 0)
        return failErrno("readdir", errno, where);
    return {};
}

} // namespace deltascope
