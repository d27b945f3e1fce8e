#pragma once

#include "deltascope/engine/operations.h"

#include <string>

namespace deltascope {

class ReplayAudit;

/// Replays all tensors of a chain under the eyes of an audit. Errors carry the step of the link that failed.
Result<void> replayAll(Workbench& bench, const Chain& chain, ReplayAudit& audit, TaskContext& task);

/// Compares what a chain leads to with the root and the digest that the publisher of its last link recorded. `root`:
/// fast DSM1 root of that state. Errors: Digest, of the first link behind which the state is not the recorded one; to
/// find it the chain is replayed once more.
Result<void> expectRecordedState(Workbench& bench, const Chain& chain, const std::string& root, TaskContext& task);

} // namespace deltascope
