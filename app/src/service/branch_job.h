#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Plans a branch, or carries it out if the request names the plan.
Result<BranchView> branch(Workbench& bench, const BranchRequest& request, const std::string& diffBackend,
                          TaskContext& task);

} // namespace deltascope::app
