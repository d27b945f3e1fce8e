#pragma once

#include "deltascope/engine/operations.h"

#include <optional>

namespace deltascope {

/// How far two states are from each other, by a sample of their floating tensors: at most 64 MiB of each state are
/// read, the same elements of all states of one model.
struct SampleDistance {
    double norm = 0; ///< of what moved, over the sample
    bool isOneModel = true; ///< most elements are of tensors that both have, in name, dtype and shape
};
/// Errors: those of opening and reading the states.
Result<SampleDistance> sampleDistance(const State& a, const State& b, const WalkMeans& means, TaskContext& task);

} // namespace deltascope
