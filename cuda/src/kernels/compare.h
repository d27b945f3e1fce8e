#pragma once

#include "kernels/rows.h"

// Comparing two stretches: finding what differs, and the sums that tell a copy from its original.

namespace deltascope::cuda {

/// One warp: the sum of a block of `before`.
template <class Warp, class Word>
DELTASCOPE_TILE void sumBlock(const Warp& warp, const SumArguments& arguments, std::uint64_t block)
{
    constexpr unsigned Words = Vector<Word>::Words;
    const BlockPair<Word> pair(jobOf(arguments, block), block);
    typename Warp::template PerLane<std::uint32_t> sums;
    warp.each([&](unsigned lane) {
        std::uint32_t sum = 0;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
        for (std::uint32_t at = lane * Words; at < pair.elements; at += Lanes * Words)
            sum += sumOf(loadVector(pair.before, at, pair.elements, pair.aligned), at);
        sums[lane] = sum;
    });
    const std::uint32_t sum = warp.sum(sums);
    warp.each([&](unsigned lane) {
        if (lane == 0)
            reinterpret_cast<std::uint32_t*>(arguments.sums)[block] = sum;
    });
}

/// How many rows of 512 bytes a warp keeps in registers between finding and writing: few are faster (before it
/// summed what it reads, 4 took 0.87 of a copy's rate on an H100, 8 took 0.66), as far as a block has no more than 32
/// warps.
template <class Word> constexpr unsigned FoundRowsOf = sizeof(Word) < 4 ? 4 : 8;

/// What one warp of a block finds.
template <class Warp, class Word> class FoundRows {
public:
    static constexpr unsigned Rows = FoundRowsOf<Word>;
    static constexpr unsigned Words = Vector<Word>::Words;
    static constexpr std::uint32_t Elements = Rows * Lanes * Words;

    /// Returns how many elements changed in the rows from element `begin` of the block on.
    DELTASCOPE_TILE std::uint32_t find(const Warp& warp, const BlockPair<Word>& pair, std::uint32_t begin)
    {
        m_begin = begin;
        typename Warp::template PerLane<std::uint32_t> sums;
        warp.each([&](unsigned lane) {
            LaneRows& rows = m_lanes[lane];
            std::uint32_t sumOfLane = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
            for (unsigned row = 0; row < Rows; ++row) {
                const std::uint32_t at = placeOf(row, lane);
                rows.after[row] = loadVector(pair.after, at, pair.elements, pair.aligned);
                rows.changed[row] =
                    changedWords(loadVector(pair.before, at, pair.elements, pair.aligned), rows.after[row]);
                sumOfLane += sumOf(rows.after[row], at);
            }
            sums[lane] = sumOfLane;
        });
        m_sumOfAfter = warp.sum(sums);
        std::uint32_t sum = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
        for (unsigned row = 0; row < Rows; ++row) {
            typename Warp::template PerLane<std::uint32_t> counts;
            warp.each([&](unsigned lane) { counts[lane] = bitsSet(m_lanes[lane].changed[row]); });
            const std::uint32_t ofRow = warp.sumsInFront(counts);
            warp.each(
                [&](unsigned lane) { m_lanes[lane].inFront[row] = static_cast<std::uint16_t>(sum + counts[lane]); });
            sum += ofRow;
        }
        return sum;
    }

    /// Of what find() read of `after`.
    DELTASCOPE_TILE std::uint32_t sumOfAfter() const { return m_sumOfAfter; }

    /// Writes them in ascending order, and the values also to their places in `out`, a block; null: nowhere.
    DELTASCOPE_TILE void write(const Warp& warp, std::uint16_t* positions, Word* values, Word* out)
    {
        warp.each([&](unsigned lane) {
            const LaneRows& rows = m_lanes[lane];
#if defined(__CUDACC__)
#pragma unroll
#endif
            for (unsigned row = 0; row < Rows; ++row) {
                std::uint32_t to = rows.inFront[row];
                for (unsigned i = 0; i < Words; ++i) {
                    if (!(rows.changed[row] >> i & 1))
                        continue;
                    const Word value = rows.after[row].word(i);
                    positions[to] = static_cast<std::uint16_t>(placeOf(row, lane) + i);
                    values[to] = value;
                    if (out)
                        out[placeOf(row, lane) + i] = value;
                    ++to;
                }
            }
        });
    }

private:
    struct LaneRows {
        Vector<Word> after[Rows];
        std::uint32_t changed[Rows];
        std::uint16_t inFront[Rows];
    };

    DELTASCOPE_TILE std::uint32_t placeOf(unsigned row, unsigned lane) const
    {
        return m_begin + (row * Lanes + lane) * Words;
    }

    typename Warp::template PerLane<LaneRows> m_lanes;
    std::uint32_t m_begin = 0;
    std::uint32_t m_sumOfAfter = 0;
};

/// Warps that share a block of extractBlock().
template <class Word> constexpr unsigned extractWarps()
{
    return static_cast<unsigned>(BlockElements * sizeof(Word) / (FoundRowsOf<Word> * 512U));
}

/// What the warps of a block share.
struct ExtractShared {
    std::uint32_t inFront[Lanes]; ///< of each warp
    std::uint32_t sums[Lanes]; ///< of each warp's rows of `after`
    std::uint64_t first;
};

/// extractWarps() warps: finds what changed in a block, takes room for it, and writes it there and to `out`. Blocks
/// take room in any order; BlockChanges says where each one's is.
template <class Block, class Word>
DELTASCOPE_TILE void extractBlock(const Block& block, ExtractShared& shared, const ExtractArguments& arguments,
                                  std::uint64_t number)
{
    using Warp = typename Block::Warp;
    const PairJob& job = jobOf(arguments, number);
    const BlockPair<Word> pair(job, number);
    auto rows = block.template perWarp<FoundRows<Warp, Word>>();
    block.eachWarp([&](const Warp& warp, unsigned at) {
        const std::uint32_t count = rows[at].find(warp, pair, at * FoundRows<Warp, Word>::Elements);
        warp.each([&](unsigned lane) {
            if (lane == 0) {
                shared.inFront[at] = count;
                shared.sums[at] = rows[at].sumOfAfter();
            }
        });
    });
    block.once([&] {
        std::uint32_t count = 0;
        std::uint32_t sum = 0;
        for (unsigned at = 0; at < block.warpCount(); ++at) {
            const std::uint32_t own = shared.inFront[at];
            shared.inFront[at] = count;
            count += own;
            sum += shared.sums[at];
        }
        const std::uint64_t first =
            count ? addTo(reinterpret_cast<std::uint64_t*>(arguments.used), std::uint64_t { count }) : 0;
        shared.first = first + count <= arguments.room ? first : NoRoom;
        reinterpret_cast<BlockChanges*>(arguments.changes)[number] = { shared.first, count, sum };
    });
    if (shared.first == NoRoom)
        return;
    Word* const out = job.out ? reinterpret_cast<Word*>(job.out) + (number - job.firstBlock) * BlockElements : nullptr;
    block.eachWarp([&](const Warp& warp, unsigned at) {
        const std::uint64_t to = shared.first + shared.inFront[at];
        rows[at].write(warp, reinterpret_cast<std::uint16_t*>(arguments.positions) + to,
                       reinterpret_cast<Word*>(arguments.values) + to, out);
    });
}

} // namespace deltascope::cuda
