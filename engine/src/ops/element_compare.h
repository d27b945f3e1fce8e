#pragma once

#include "compensated_sum.h"
#include "deltascope/engine/operations.h"

namespace deltascope {

/// Sums of squared values of state A and of B − A, over elements with finite values.
struct Squares {
    Sum a;
    Sum moved;

    void add(const Squares& other) noexcept;
    /// L2 of B − A over that of A; nothing where A has none, where a sum is too large for a double, or where none of
    /// the elements that differ is finite on both sides.
    std::optional<double> relativeNorm(std::uint64_t different, const NotFiniteCounts& notFinite) const noexcept;
};

/// Adds what differs between the blocks of a tensor to `diff`: counts by bits, distances by value where the type is a
/// number; for such types `squares` takes all of A. `backend`, `diff` and `squares` outlive it.
std::unique_ptr<PairBatches> compareBlocks(const Backend& backend, TensorDiff& diff, Squares& squares);

} // namespace deltascope
