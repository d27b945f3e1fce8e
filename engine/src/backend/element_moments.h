#pragma once

#include "deltascope/engine/element_difference.h"

#include <array>

// The reference of Backend::moments(): one element after the other. What includes this is compiled with
// -ffp-contract=off.

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

/// Adds elements from `begin` on, as a position in the block.
template <class Format>
void addElements(const Format& format, ByteSpan before, ByteSpan after, std::size_t begin, MomentSums& sums) noexcept
{
    using Bits = typename Format::Bits;
    for (std::size_t i = begin; i < before.size() / sizeof(Bits); ++i) {
        const std::size_t lane = i % Backend::MomentLanes;
        const Bits x = loadLe<Bits>(before, i * sizeof(Bits));
        const Bits y = loadLe<Bits>(after, i * sizeof(Bits));
        if (format.isSpecial(x)) {
            ++sums.out.notFinite;
        } else {
            const double value = format.value(x);
            sums.squares[lane] += value * value;
        }
        if (x == y)
            continue;
        ++sums.out.different;
        addDifference(format, x, y, sums.moved[lane], sums.out);
    }
}

} // namespace deltascope
