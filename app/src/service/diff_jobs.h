#pragma once

#include "deltascope/engine/tensor_globs.h"
#include "opening.h"

#include <string>

namespace deltascope::app {

/// Replaying a state has met no-ops: whether they are this writer's habit, or something is missing. Errors: ChainGap
/// and those of replaying.
Result<void> judgeState(Workbench& bench, const OpenState& state, TaskContext& task);

/// Two states, and what of them is compared.
struct DiffRequest {
    VersionRequest a, b;
    DiffChoice choice = {};
};

/// What comparing two steps would read. Compares forms on the way to them where that was not done before; else reads
/// names and headers alone. Errors: Usage (a file on its own).
Result<PlannedReadView> planComparison(Workbench& bench, const DiffRequest& request, TaskContext& task);

/// Compares two states, also where all their names or dtypes differ in one way. `planHash`: of the plan that is carried
/// out; empty: none was made. Errors: Exists (the plan does not fit any more), those of diffStates().
Result<DiffView> diffOf(Workbench& bench, const DiffRequest& request, const std::string& planHash, TaskContext& task);

} // namespace deltascope::app
