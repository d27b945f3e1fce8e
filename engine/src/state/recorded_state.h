#pragma once

#include "deltascope/engine/state.h"

#include <string>

namespace deltascope {

class PathState;
class ReplayAudit;

/// Replays all tensors of a chain under the eyes of an audit. Errors carry the step of the link that failed.
Result<void> replayAll(const PathState& chain, ReplayAudit& audit, const WalkMeans& means, TaskContext& task);

/// State::expectRecorded() of a path.
Result<void> expectRecordedState(const PathState& chain, const std::string& root, const WalkMeans& means,
                                 TaskContext& task);

} // namespace deltascope
