#pragma once

#include "options.h"
#include "terminal.h"

#include "deltascope/app/service.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}

namespace deltascope::cli {

/// Declares a command for each act that the engine plans, with an option for each of its fields, and those that list
/// what acts have left beside a run. Returns those that are about a run.
std::vector<CLI::App*> describeActs(CLI::App& program, Options& options);

/// --dry-run, which is returned, --plan and --apply.
CLI::Option* addPlanOptions(CLI::App& command, Options& options);

/// Whether the command is an act, or lists what acts have left beside a run.
bool isActCommand(const std::string& command);

/// Runs it: an act is planned, and carried out if the options say so.
Result<int> runAct(app::Service& service, const std::string& command, const Options& options, const Style& style);

} // namespace deltascope::cli
