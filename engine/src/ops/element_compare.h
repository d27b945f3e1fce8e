#pragma once

#include "compensated_sum.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/patch.h"

#include <algorithm>

namespace deltascope {

/// Sums of squared values of state A and of B − A, over elements with finite values.
struct Squares {
    Sum a;
    Sum moved;

    void add(const Squares& other) noexcept;
    /// L2 of B − A over that of A; nothing where A has none, or where a sum is too large for a double.
    std::optional<double> relativeNorm() const noexcept;
};

/// As countDifferent() of patch.h, with vectors where elements have whole bytes.
std::uint64_t countDifferent(const DiffBackend& backend, ByteSpan a, ByteSpan b, Dtype dtype) noexcept;

/// Calls `use` with the moments of each block of two stretches of a type of numbers, in order. The stretches begin at a
/// multiple of DiffBackend::MomentElements in their tensor.
template <class Use> void forEachMoments(const DiffBackend& backend, ByteSpan a, ByteSpan b, Dtype dtype, Use use)
{
    const std::size_t blockBytes = DiffBackend::MomentElements * bitsOf(dtype) / 8;
    for (std::size_t at = 0; at < a.size(); at += blockBytes) {
        const std::size_t bytes = std::min(blockBytes, a.size() - at);
        use(backend.moments(a.subspan(at, bytes), b.subspan(at, bytes), dtype));
    }
}

/// Adds what differs between two stretches of a tensor, as of forEachMoments(), to `diff`: counts by bits, distances by
/// value where the type is a number; for such types `squares` takes all of A.
void compareBlocks(const DiffBackend& backend, ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff, Squares& squares);

} // namespace deltascope
