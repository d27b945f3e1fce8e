#pragma once

#include "deltascope/engine/tensor_globs.h"
#include "opening.h"

namespace deltascope::app {

/// Replaying a state has met no-ops: whether they are this writer's habit, or something is missing. Errors: ChainGap
/// and those of replaying.
Result<void> judgeState(Workbench& bench, const OpenState& state, TaskContext& task);

/// Compares two states, also where all their names or dtypes differ in one way. Errors: those of diffStates().
Result<DiffView> diffOf(Workbench& bench, const VersionRequest& a, const VersionRequest& b, const DiffChoice& choice,
                        TaskContext& task);

} // namespace deltascope::app
