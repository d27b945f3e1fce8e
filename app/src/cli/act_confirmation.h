#pragma once

#include "options.h"

#include "deltascope/base/result.h"

#include <string>

namespace deltascope::cli {

/// Whether the options say that an act is to be done, not only shown. `plan`: JSON, as
/// writePlan() writes it. Errors: Usage (--confirm names another run; --apply names a file that holds no plan, or one
/// that was edited), Exists (the plan in that file is another one).
Result<bool> confirmAct(const Options& options, const std::string& run, const std::string& plan, app::ActWay way);

/// Writes a plan into a new file. Errors: Exists, those of the disk.
Result<void> writePlan(const std::string& path, const std::string& json);

} // namespace deltascope::cli
