#pragma once

#include "deltascope/engine/tensor_globs.h"
#include "opening.h"

namespace deltascope::app {

/// Replaying a state has met no-ops: whether they are this writer's habit, or something is missing. Errors: ChainGap
/// and those of replaying.
Result<void> judgeState(Workbench& bench, const OpenState& state, TaskContext& task);

/// Compares the tensors of two states that `meant` names.
Result<DiffView> diffOf(Workbench& bench, const VersionRequest& a, const VersionRequest& b, const TensorGlobs& meant,
                        TaskContext& task);

} // namespace deltascope::app
