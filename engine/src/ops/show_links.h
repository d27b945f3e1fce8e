#pragma once

#include "deltascope/engine/path_state.h"

namespace deltascope {

/// Shows one tensor of a chain to `observer`, behind each link. Adds what it reads to what the task has done. Errors:
/// Digest, those of the replay.
Result<void> showLinks(const Chain& chain, const TensorInfo& tensor, ReplayObserver& observer, const WalkMeans& means,
                       TaskContext& task);

} // namespace deltascope
