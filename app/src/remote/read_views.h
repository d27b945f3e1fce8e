#pragma once

#include "deltascope/app/monitor.h"

#include "view/io/json_reader.h"
#include "view/problem_description.h"

#include <string>

namespace deltascope::app {

// Views that have no description yet (readAs), from the JSON that app/src/view writes of them. They throw what
// readJson() catches; what the JSON of a view leaves out stays as in a view that was just made.

/// What GET runs/{r}/steps/{s} answers.
StepDetailView readStepDetail(const json& from);
/// A line of JSON and the counts behind it.
Result<BlocksView> readBlocks(const std::string& body);

} // namespace deltascope::app
