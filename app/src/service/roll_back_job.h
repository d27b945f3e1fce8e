#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Plans a roll back, or carries it out if the request names the plan.
Result<RollBackView> rollBack(Workbench& bench, const RollBackRequest& request, const std::string& diffBackend,
                              TaskContext& task);

} // namespace deltascope::app
