#pragma once

#include "deltascope/base/result.h"
#include "file_handle.h"

#include <fcntl.h>
#include <string>

namespace deltascope {

/// A name in an open folder: what the *at() system calls take.
struct DiskPlace {
    FileHandle folder; ///< none: the working directory
    std::string name;

    int at() const noexcept { return folder ? folder.get() : AT_FDCWD; }
};

/// Where `path` leads. With `root`, an absolute path of a folder, `path` has to lie in it or be it, and no link below
/// `root` is followed on the way: a folder that somebody replaces by a link leads nowhere. Errors: Usage (it lies
/// elsewhere), Auth (a link is on the way), and those of opening a folder.
Result<DiskPlace> placeOf(const std::string& root, const std::string& path);

/// openat(2) of a folder that no link may stand for: Auth if one does, else what errno says. `path`: for errors.
Result<FileHandle> openFolderAt(int folder, const std::string& name, int flags, const std::string& path);

} // namespace deltascope
