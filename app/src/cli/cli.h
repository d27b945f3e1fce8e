#pragma once

#include <string>
#include <vector>

namespace deltascope::cli {

/// The whole program without its entry: parses `arguments` (without the program's name), runs the command, returns the
/// exit status of exit_codes.h. Data goes to stdout, everything else to stderr.
int run(const std::vector<std::string>& arguments);

} // namespace deltascope::cli
