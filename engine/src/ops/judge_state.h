#pragma once

#include "deltascope/engine/health.h"
#include "deltascope/engine/walk.h"

#include <string>
#include <vector>

namespace deltascope {

/// A complete state that another one is judged by.
struct StateBefore {
    const State& state;
    bool isJudged = true; ///< false: what its tensors hold may be wrong already, so equal bits excuse nothing
    std::vector<SuspectTensor> held; ///< what was found in it
};

struct JudgedState {
    std::vector<SuspectTensor> suspects; ///< the worst kind first, then by name
    /// Tensors that nothing is compared with and that hold infinities as masks do, which is no alarm; by name.
    std::vector<std::string> masks;
};

/// What speaks against the values of a complete state: floating types alone. `before`: the state of the step before;
/// null: there is none. Reads both. Errors: those of the walks.
Result<JudgedState> judgeState(const State& state, const StateBefore* before, const WalkMeans& means,
                               TaskContext& task);

} // namespace deltascope
