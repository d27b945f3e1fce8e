#pragma once

#include "options.h"

#include "deltascope/base/result.h"

namespace deltascope::cli {

/// Becomes the desktop app: the one beside this program, else the one that the shell would find. Returns only if there
/// is none. Errors: NotFound.
Result<void> becomeGui(const Options& options);

} // namespace deltascope::cli
