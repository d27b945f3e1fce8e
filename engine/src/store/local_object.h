#pragma once

#include "../base/file_handle.h"
#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

// How a local file is an object. Shared by the parts of the local store.

namespace deltascope {

/// ".<name>.ds-tmp-<pid>-<random>": the names of puts that are under way. They are no objects.
std::string temporaryName(std::string_view name);
bool isTemporaryName(std::string_view name) noexcept;
/// The process that put under such a name; nothing if a name is not exactly of this form.
std::optional<std::int64_t> writerOf(std::string_view name) noexcept;

/// "dev:inode:size:mtime_ns:ctime_ns"
std::string identityOf(const struct stat& status);

/// The object of an open regular file.
Result<ObjectInfo> describeFile(const FileHandle& file, const std::string& key);

/// The object of a name in an open folder; a symbolic link stands for the file that it leads to. Nothing if there is no
/// regular file behind the name (any more).
Result<std::optional<ObjectInfo>> examineName(const FileHandle& folder, const std::string& name,
                                              const std::string& key);

/// The same for a listing of `root`: what is no file has an oddity. A link to the folder `home`, or to one below it, is
/// nothing, since that folder is listed where it is.
Result<std::optional<ObjectInfo>> examineEntry(const FileHandle& folder, const std::string& name,
                                               const std::string& key, const std::string& root,
                                               const std::string& home);

/// Where the link `root/key` leads, if it is followed: to a folder outside of `root`, which is a real path, that does
/// not hold it. What lies there belongs to the source under the name of the link.
std::optional<std::string> followedFolder(const std::string& root, std::string_view key);

/// Whether a folder has the name of a data file, so that a file is expected in its place.
bool isNamedAsFile(std::string_view name) noexcept;

/// Whether a link below `root`, which is a real path, leads to a file that is no part of it
/// (ObjectStore::leadsOutside).
Result<bool> linkLeadsOutside(const std::string& root, std::string_view key);

/// errno values that mean "no object of that key".
bool meansAbsent(int errnoValue) noexcept;

} // namespace deltascope
