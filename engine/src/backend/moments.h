#pragma once

#include "deltascope/engine/backend.h"

#include <array>

namespace deltascope {

/// Moments of a block before its sums are added up.
struct MomentSums {
    std::array<double, Backend::MomentLanes> squares {};
    std::array<double, Backend::MomentLanes> moved {};
    DiffMoments out; ///< but for its sums

    DiffMoments finish() noexcept
    {
        out.squares = sumOf(squares);
        out.movedSquares = sumOf(moved);
        return out;
    }

private:
    static double sumOf(std::array<double, Backend::MomentLanes>& lanes) noexcept
    {
        for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
            for (std::size_t lane = 0; lane < half; ++lane)
                lanes[lane] += lanes[lane + half];
        }
        return lanes[0];
    }
};

/// As Backend::moments().
using MeasureMoments = DiffMoments (*)(ByteSpan before, ByteSpan after, Dtype dtype) noexcept;

/// The reference: one element after the other.
DiffMoments scalarMoments(ByteSpan before, ByteSpan after, Dtype dtype) noexcept;

/// What one of the vector targets of this build does; `target` is Highway's number for it.
MeasureMoments simdMoments(std::int64_t target) noexcept;

} // namespace deltascope
