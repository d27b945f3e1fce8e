#pragma once

#include "deltascope/engine/health.h"
#include "deltascope/engine/walk.h"

#include <vector>

namespace deltascope {

/// A complete state that another one is judged by.
struct StateBefore {
    const State& state;
    bool isJudged = true; ///< false: what its tensors hold may be wrong already, so equal bits excuse nothing
    std::vector<SuspectTensor> held; ///< what was found in it
};

/// What speaks against the values of a complete state: floating types alone, the worst kind first, then by name.
/// `before`: the state of the step before; null: there is none. Reads both. Errors: those of the walks.
Result<std::vector<SuspectTensor>> judgeState(const State& state, const StateBefore* before, const WalkMeans& means,
                                              TaskContext& task);

} // namespace deltascope
