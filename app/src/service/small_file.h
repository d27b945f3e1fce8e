#pragma once

#include "deltascope/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace deltascope::app {

/// Reads a regular file whole; a pipe of this name blocks nothing. `what`: how errors call it. Errors: NotFound, Io
/// (it cannot be read, or is no regular file), Hostile (it is longer than `mostBytes`).
Result<std::string> readSmallFile(const std::string& path, std::string_view what, std::size_t mostBytes);

} // namespace deltascope::app
