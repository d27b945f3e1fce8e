#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <string_view>

namespace deltascope::app {

/// Makes a file that was not there: whole and on the disk, or not at all. `what`: "the plan". The program must ignore
/// SIGXFSZ. Errors: Exists, NoSpace (also a file size limit), Auth, NotFound (its folder), Io.
Result<void> writeNewFile(const std::string& path, std::string_view bytes, std::string_view what);

} // namespace deltascope::app
