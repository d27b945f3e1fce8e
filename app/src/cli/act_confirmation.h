#pragma once

#include "options.h"

#include "deltascope/base/result.h"

#include <string>

namespace deltascope::cli {

/// Whether the options say that an act is to be done, not only shown. Errors: Usage (--confirm names another run;
/// --apply names a file that holds no plan), Exists (the plan in that file is another one than `hash`).
Result<bool> confirmAct(const Options& options, const std::string& run, const std::string& hash, app::ActWay way);

/// Writes a plan into a new file. Errors: Exists, those of the disk.
Result<void> writePlan(const std::string& path, const std::string& json);

} // namespace deltascope::cli
