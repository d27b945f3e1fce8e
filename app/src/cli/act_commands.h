#pragma once

#include "options.h"
#include "terminal.h"

#include "deltascope/base/result.h"

#include <string>

namespace deltascope::cli {

/// The commands that change a run, or show what people said and did: rollback, undo, ref, pin, unpin, note, refs,
/// journal.
bool isActCommand(const std::string& command);

/// Runs one of them and prints what comes of it. Returns the exit status.
Result<int> runAct(app::Service& service, const std::string& command, const Options& options, const Style& style);

} // namespace deltascope::cli
