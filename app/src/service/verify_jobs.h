#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <string>

namespace deltascope::app {

/// What verifying would read. Reads names and headers alone.
Result<PlannedReadView> planVerification(Workbench& bench, const VerifyRequest& request, TaskContext& task);

/// `planHash`: of the plan that is carried out; empty: none was made. Errors: Exists (the plan does not fit any more),
/// those of openRun() and verifyRun().
Result<VerifyView> verifyOf(Workbench& bench, const VerifyRequest& request, const std::string& planHash,
                            TaskContext& task);

} // namespace deltascope::app
