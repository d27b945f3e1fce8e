#pragma once

#include "kernels/rows.h"

// Applying new bits to some elements, with the counts of Backend::apply().

namespace deltascope::cuda {

/// One warp: up to AssignTile elements of a job.
template <class Warp, class Word>
DELTASCOPE_TILE void assignTile(const Warp& warp, const AssignArguments& arguments, std::uint64_t tile)
{
    const std::uint32_t number = reinterpret_cast<const std::uint32_t*>(arguments.jobOfTile)[tile];
    const AssignJob& job = reinterpret_cast<const AssignJob*>(arguments.jobs)[number];
    Word* const stretch = reinterpret_cast<Word*>(job.stretch);
    const auto* const elements = reinterpret_cast<const std::uint32_t*>(job.elements);
    const auto* const bits = reinterpret_cast<const Word*>(job.bits);
    const std::uint64_t begin = (tile - job.firstTile) * AssignTile;
    const std::uint64_t end = job.count - begin < AssignTile ? job.count : begin + AssignTile;
    const bool isXor = arguments.isXor != 0;
    typename Warp::template PerLane<std::uint32_t> noops;
    typename Warp::template PerLane<std::uint32_t> nanNoops;
    typename Warp::template PerLane<std::uint32_t> sameLow;
    warp.each([&](unsigned lane) {
        std::uint32_t noop = 0;
        std::uint32_t nanNoop = 0;
        std::uint32_t same = 0;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
        for (std::uint64_t i = begin + lane; i < end; i += Lanes) {
            Word& at = stretch[elements[i]];
            const Word old = at;
            const Word fresh = static_cast<Word>(isXor ? old ^ bits[i] : bits[i]);
            if (old == fresh) {
                ++noop;
                nanNoop += job.nan.isNan(fresh);
                continue;
            }
            if constexpr (sizeof(Word) == 2)
                same += ((old ^ fresh) & 0xff) == 0;
            at = fresh;
        }
        noops[lane] = noop;
        nanNoops[lane] = nanNoop;
        sameLow[lane] = same;
    });
    const std::uint32_t noop = warp.sum(noops);
    const std::uint32_t nanNoop = warp.sum(nanNoops);
    const std::uint32_t same = warp.sum(sameLow);
    warp.each([&](unsigned lane) {
        if (lane != 0)
            return;
        AssignCounts& total = reinterpret_cast<AssignCounts*>(arguments.counts)[number];
        const auto add = [](std::uint64_t& to, std::uint64_t count) {
            if (count)
                addTo(&to, count);
        };
        add(total.noops, noop);
        add(total.nanNoops, nanNoop);
        add(total.changed, end - begin - noop);
        add(total.sameLowByte, same);
    });
}

} // namespace deltascope::cuda
