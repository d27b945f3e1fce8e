#pragma once

#include "../base/file_handle.h"
#include "deltascope/base/task.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace deltascope {

/// ObjectStore::removeTemporaries of the local store at `root`.
Result<std::size_t> removeLocalTemporaries(const std::string& root,
                                           const std::function<bool(std::string_view folder)>& enters,
                                           TaskContext& task);

} // namespace deltascope
