#pragma once

#include "completion.h"
#include "options.h"
#include "terminal.h"

#include "deltascope/base/result.h"

#include <string>
#include <vector>

namespace deltascope::cli {

/// Runs one command against the service and prints what comes of it. `words`: for completion scripts. Returns the exit
/// status.
int runCommand(const std::string& command, const Options& options, const Style& style, std::vector<CommandWords> words);

/// Errors go to stderr for people and, with --json, to stdout as one document. Returns the exit status.
int report(const Error& error, bool json);

} // namespace deltascope::cli
