#pragma once

#include "deltascope/engine/element_difference.h"
#include "kernels/rows.h"

// How the numbers of two blocks differ, with the sums of Backend::moments(): lane i adds up the elements i mod 32.
// What includes this is compiled without contraction of products and sums.

namespace deltascope::cuda {

static_assert(BlockElements == Backend::MomentElements && Lanes == Backend::MomentLanes);

/// One warp: a block.
template <class Warp, class Format>
DELTASCOPE_TILE void measureBlock(const Warp& warp, const MomentArguments& arguments, std::uint64_t block,
                                  const Format& format)
{
    using Bits = typename Format::Bits;
    const PairJob& job = jobOf(arguments, block);
    const BlockPair<Bits> pair(job, block);
    typename Warp::template PerLane<DiffMoments> lanes;
    warp.each([&](unsigned lane) {
        DiffMoments out;
#if defined(__CUDACC__)
#pragma unroll 8
#endif
        for (std::uint32_t i = lane; i < pair.elements; i += Lanes) {
            const Bits x = pair.before[i];
            const Bits y = pair.after[i];
            if (format.isSpecial(x)) {
                ++out.notFinite;
            } else {
                const double value = format.value(x);
                out.squares += value * value;
            }
            if (x == y)
                continue;
            ++out.different;
            addDifference(format, x, y, out.movedSquares, out);
        }
        lanes[lane] = out;
    });
    const auto each = [&](auto valueOf) {
        typename Warp::template PerLane<decltype(valueOf(lanes[0]))> values;
        warp.each([&](unsigned lane) { values[lane] = valueOf(lanes[lane]); });
        return values;
    };
    DiffMoments out;
    out.notFinite = warp.sum(each([](const DiffMoments& of) { return of.notFinite; }));
    out.squares = warp.treeSum(each([](const DiffMoments& of) { return of.squares; }));
    out.different = warp.sum(each([](const DiffMoments& of) { return of.different; }));
    out.notFiniteChanged = { warp.sum(each([](const DiffMoments& of) { return of.notFiniteChanged.a; })),
                             warp.sum(each([](const DiffMoments& of) { return of.notFiniteChanged.b; })),
                             warp.sum(each([](const DiffMoments& of) { return of.notFiniteChanged.different; })) };
    out.nanInvolved = warp.sum(each([](const DiffMoments& of) { return of.nanInvolved; }));
    out.signFlips = warp.sum(each([](const DiffMoments& of) { return of.signFlips; }));
    out.maxUlp = warp.max(each([](const DiffMoments& of) { return of.maxUlp; }));
    out.maxAbs = warp.max(each([](const DiffMoments& of) { return of.maxAbs; }));
    out.movedSquares = warp.treeSum(each([](const DiffMoments& of) { return of.movedSquares; }));
    warp.each([&](unsigned lane) {
        if (lane == 0)
            reinterpret_cast<DiffMoments*>(arguments.moments)[block] = out;
    });
}

} // namespace deltascope::cuda
