#pragma once

#include "deltascope/engine/state.h"

namespace deltascope {

/// Shows one tensor of a state to `observer`, behind each link of its path. Adds what it reads to what the task has
/// done. Errors: Digest, those of the replay.
Result<void> showLinks(const State& state, const TensorInfo& tensor, ReplayObserver& observer, const WalkMeans& means,
                       TaskContext& task);

} // namespace deltascope
