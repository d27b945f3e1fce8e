#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <string>

namespace deltascope::app {

/// What a rebuild would read, and where it would be written. Compares the forms of the version where that was not done
/// before; else reads names and headers alone.
Result<PlannedReadView> planRebuild(Workbench& bench, const MaterializeRequest& request, TaskContext& task);

/// `planHash`: of the plan that is carried out; empty: none was made. Errors: Usage (the destination lies inside the
/// run), Exists (also: the plan does not fit any more), those of materialize().
Result<MaterializeView> rebuildOf(Workbench& bench, const MaterializeRequest& request, const std::string& planHash,
                                  TaskContext& task);

} // namespace deltascope::app
