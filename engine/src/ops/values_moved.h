#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/statistics.h"
#include "element_compare.h"

#include <memory>

namespace deltascope {

/// Collects how two states differ in a tensor of a type of numbers, in one pass: as diff, and how far elements moved.
class MovedCollector {
public:
    /// `backend` outlives it.
    MovedCollector(Dtype dtype, const Backend& backend);
    MovedCollector(const MovedCollector&) = delete;
    MovedCollector& operator=(const MovedCollector&) = delete;

    /// Equally long stretches at the same place, from front to back.
    Result<void> add(ByteSpan a, ByteSpan b);
    /// Behind the last stretch.
    Result<ValuesMoved> finish();

private:
    const Backend& m_backend;
    TensorDiff m_diff;
    Squares m_squares;
    StepCounts m_steps;
    std::unique_ptr<PairBatches> m_blocks;
};

} // namespace deltascope
