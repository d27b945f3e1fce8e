#pragma once

#include "deltascope/engine/diff_backend.h"
#include "diff/number_format.h"

#include <algorithm>
#include <array>
#include <cmath>

// The reference of DiffBackend::moments(): one element after the other. What includes this is compiled with
// -ffp-contract=off.

namespace deltascope {

/// Moments of a block before its sums are added up.
struct MomentSums {
    std::array<double, DiffBackend::MomentLanes> squares {};
    std::array<double, DiffBackend::MomentLanes> moved {};
    DiffMoments out; ///< but for its sums

    DiffMoments finish() noexcept
    {
        out.squares = sumOf(squares);
        out.movedSquares = sumOf(moved);
        return out;
    }

private:
    static double sumOf(std::array<double, DiffBackend::MomentLanes>& lanes) noexcept
    {
        for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
            for (std::size_t lane = 0; lane < half; ++lane)
                lanes[lane] += lanes[lane + half];
        }
        return lanes[0];
    }
};

/// Adds how an element differs that does, but for its count.
template <class Format>
void addDifference(const Format& format, typename Format::Bits x, typename Format::Bits y, double& moved,
                   DiffMoments& out) noexcept
{
    if (format.isNan(x) || format.isNan(y)) {
        ++out.nanInvolved;
        return;
    }
    out.signFlips += ((x ^ y) & format.signBit()) != 0;
    const std::uint64_t apart = distance(format.ordered(x), format.ordered(y));
    double gap = 0;
    if constexpr (Format::IsInteger) {
        gap = static_cast<double>(apart); // so that large numbers keep small distances
    } else {
        out.maxUlp = std::max(out.maxUlp, apart);
        gap = std::abs(format.value(x) - format.value(y));
        if (!std::isfinite(gap))
            return;
    }
    out.maxAbs = std::max(out.maxAbs, gap);
    moved += gap * gap;
}

/// Adds elements from `begin` on, as a position in the block.
template <class Format>
void addElements(const Format& format, ByteSpan before, ByteSpan after, std::size_t begin, MomentSums& sums) noexcept
{
    using Bits = typename Format::Bits;
    for (std::size_t i = begin; i < before.size() / sizeof(Bits); ++i) {
        const std::size_t lane = i % DiffBackend::MomentLanes;
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
