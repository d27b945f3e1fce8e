#pragma once

#include "deltascope/engine/file_system.h"

#include <string>

namespace deltascope {

/// Removes what stopped materializations into `destination` left beside it, whichever version they were of; not what
/// several processes share. Errors: Exists (one is at work), those of the disk.
Result<void> removeLeftovers(FileSystem& disk, const std::string& destination);

} // namespace deltascope
