#pragma once

#include "deltascope/engine/object_store.h"

#include <string>

namespace deltascope {

constexpr int MaxFolderDepth = 64; ///< below the root of a store: nothing deeper is listed or watched

/// One page of the files below `root`, an absolute path without a trailing slash (but "/" itself). Reads only folders
/// that can hold keys behind startAfter and with the prefix. A symbolic link to a file is an object. One to a folder of
/// the store is nothing, one to a folder elsewhere stands for that folder, and one inside of that is not followed.
/// Errors: NotFound or Transient if the root goes away meanwhile, Auth or Io if a folder cannot be read.
Result<ListPage> listLocalFolder(const std::string& root, const ListRequest& request, TaskContext& task);

} // namespace deltascope
