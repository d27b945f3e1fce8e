#pragma once

#include "deltascope/engine/path_state.h"

#include <string>

namespace deltascope {

class ReplayAudit;

/// Replays all tensors of a chain under the eyes of an audit. Errors carry the step of the link that failed.
Result<void> replayAll(const Chain& chain, ReplayAudit& audit, const WalkMeans& means, TaskContext& task);

/// Chain::expectRecorded().
Result<void> expectRecordedState(const Chain& chain, const std::string& root, const WalkMeans& means,
                                 TaskContext& task);

} // namespace deltascope
