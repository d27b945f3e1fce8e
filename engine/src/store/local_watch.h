#pragma once

#include "../base/file_handle.h"
#include "deltascope/engine/object_store.h"

#include <memory>
#include <string>

namespace deltascope {

/// Whether the kernel sees every change of this folder: true on local disks, false where other machines write too.
bool seesAllChanges(const FileHandle& folder) noexcept;

/// Watches everything below `root`, an absolute path. Where the kernel cannot see all changes (network file systems,
/// symbolic links, no watches left) wait() answers true at its timeout. Goes on when the root is removed and comes
/// back.
Result<std::unique_ptr<StoreWatch>> watchLocalFolder(const std::string& root);

} // namespace deltascope
