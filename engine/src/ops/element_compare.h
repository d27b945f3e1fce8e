#pragma once

#include "compensated_sum.h"
#include "deltascope/engine/operations.h"

namespace deltascope {

/// Sums of squared values of state A and of B − A, over elements with finite values.
struct Squares {
    Sum a;
    Sum moved;

    void add(const Squares& other) noexcept;
    /// L2 of B − A over that of A; nothing where A has none, or where a sum is too large for a double.
    std::optional<double> relativeNorm() const noexcept;
};

/// Adds what differs between two stretches of a tensor, as of forEachMoments(), to `diff`: counts by bits, distances by
/// value where the type is a number; for such types `squares` takes all of A.
void compareBlocks(const DiffBackend& backend, ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff, Squares& squares);

} // namespace deltascope
