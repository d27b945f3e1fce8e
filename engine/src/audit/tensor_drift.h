#pragma once

#include "audit/replay_audit.h"

#include <cstddef>
#include <vector>

namespace deltascope {

/// The tensors in which the anchor that is link `anchor` of a replayed chain is further from the state before it than
/// training explains: in more than three times the elements that the second largest of the tensor's own last ten deltas
/// changed, and 16; or in which more than 16 elements move over eight times as far as any did in these deltas. The
/// worst first, at most ten. A tensor that fewer than two deltas of the chain touch has no measure. `health`: whose
/// links that restore an earlier state are none; may be null.
std::vector<TensorDrift> driftedTensors(const PathState& chain, const std::vector<LinkAudit>& links, std::size_t anchor,
                                        const HealthBook* health);

} // namespace deltascope
