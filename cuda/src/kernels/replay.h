#pragma once

#include "kernels/arguments.h"
#include "kernels/execution.h"

// Several versions of a block, one after the other, without a way to the host between them.

namespace deltascope::cuda {

/// What a lane counts of one piece.
struct ReplayTally {
    std::uint32_t counts[5]; ///< as in DevicePatchCounts

    /// An element that got these bits.
    template <class Word> DELTASCOPE_TILE void add(Word old, Word fresh, const ReplayArguments& arguments)
    {
        if (old == fresh) {
            ++counts[0];
            counts[1] += arguments.nan.isNan(fresh);
            return;
        }
        const auto minusZero = static_cast<Word>(arguments.minusZero);
        ++counts[2];
        counts[3] += minusZero != 0 && static_cast<Word>((old | fresh) ^ minusZero) == 0;
        if constexpr (sizeof(Word) == 2)
            counts[4] += ((old ^ fresh) & 0xff) == 0;
    }
    /// An element of which some bytes were assigned, and how many of them it had already.
    DELTASCOPE_TILE void addBytes(std::uint32_t noops, bool isChanged)
    {
        counts[0] += noops;
        counts[2] += isChanged ? 1 : 0;
    }
};

template <class Warp, class Tallies>
DELTASCOPE_TILE void addTallies(const Warp& warp, const Tallies& tallies, DevicePatchCounts& total)
{
    std::uint64_t* const to[] = { &total.noops, &total.nanNoops, &total.changed, &total.zeroSigns, &total.sameLowByte };
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (unsigned i = 0; i < 5; ++i) {
        typename Warp::template PerLane<std::uint32_t> counts;
        warp.each([&](unsigned lane) { counts[lane] = tallies[lane].counts[i]; });
        const std::uint32_t sum = warp.sum(counts);
        warp.each([&](unsigned lane) {
            if (lane == 0 && sum > 0)
                addTo(to[i], std::uint64_t { sum });
        });
    }
}

/// Calls `work` for the numbers below `count` that are those of one lane of a block.
template <class Block, class Work>
DELTASCOPE_TILE void eachOfLane(const Block& block, unsigned warpNumber, unsigned lane, std::uint64_t count,
                                Work&& work)
{
    const std::uint64_t step = std::uint64_t { block.warpCount() } * Lanes;
    for (std::uint64_t i = std::uint64_t { warpNumber } * Lanes + lane; i < count; i += step)
        work(i);
}

/// Gives element `i` of a piece its bits.
template <class Word>
DELTASCOPE_TILE void replayElement(Word* words, const ReplayPiece& piece, std::uint64_t i,
                                   const ReplayArguments& arguments, ReplayTally& tally)
{
    const auto* const positions = reinterpret_cast<const std::uint32_t*>(piece.positions);
    const Word kept = piece.kind == DevicePieceKind::Xor ? static_cast<Word>(~Word { 0 }) : Word { 0 };
    Word& word = words[positions ? positions[i] : i];
    const Word old = word;
    const Word fresh = static_cast<Word>((old & kept) ^ reinterpret_cast<const Word*>(piece.bits)[i]);
    tally.add(old, fresh, arguments);
    word = fresh;
}

/// Assigns byte `i` of a piece, with those behind it that are in the same element: each element is one lane's, that of
/// its first byte in the piece.
template <class Word>
DELTASCOPE_TILE void replayBytes(Word* words, const ReplayPiece& piece, std::uint64_t i, ReplayTally& tally)
{
    const auto* const positions = reinterpret_cast<const std::uint32_t*>(piece.positions);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(piece.bits);
    const auto elementOf = [&](std::uint64_t byte) { return positions[byte] / static_cast<unsigned>(sizeof(Word)); };
    const std::uint32_t element = elementOf(i);
    if (i > 0 && elementOf(i - 1) == element)
        return;
    const Word old = words[element];
    Word fresh = old;
    std::uint32_t noops = 0;
    for (; i < piece.count && elementOf(i) == element; ++i) {
        const unsigned shift = positions[i] % static_cast<unsigned>(sizeof(Word)) * 8;
        const Word difference = static_cast<Word>(static_cast<std::uint8_t>(old >> shift) ^ bytes[i]);
        noops += difference == 0 ? 1 : 0;
        fresh = static_cast<Word>(fresh ^ static_cast<Word>(difference << shift));
    }
    tally.addBytes(noops, fresh != old);
    words[element] = fresh;
}

/// A few warps: applies the pieces of a block in order, and copies it behind those that say where to.
template <class Block, class Word>
DELTASCOPE_TILE void replayBlock(const Block& block, const ReplayArguments& arguments, std::uint64_t number)
{
    using Warp = typename Block::Warp;
    const ReplayJob& job = reinterpret_cast<const ReplayJob*>(arguments.jobs)[number];
    Word* const words = reinterpret_cast<Word*>(job.block);
    for (std::uint64_t at = job.firstPiece; at < job.firstPiece + job.pieces; ++at) {
        const ReplayPiece& piece = reinterpret_cast<const ReplayPiece*>(arguments.pieces)[at];
        block.eachWarp([&](const Warp& warp, unsigned warpNumber) {
            typename Warp::template PerLane<ReplayTally> tallies;
            warp.each([&](unsigned lane) {
                ReplayTally tally {};
                eachOfLane(block, warpNumber, lane, piece.count, [&](std::uint64_t i) {
                    if (piece.kind == DevicePieceKind::AssignBytes)
                        replayBytes(words, piece, i, tally);
                    else
                        replayElement(words, piece, i, arguments, tally);
                });
                tallies[lane] = tally;
            });
            addTallies(warp, tallies, reinterpret_cast<DevicePatchCounts*>(arguments.counts)[at]);
        });
        if (piece.out == 0)
            continue;
        auto* const out = reinterpret_cast<Word*>(piece.out);
        block.eachWarp([&](const Warp& warp, unsigned warpNumber) {
            warp.each([&](unsigned lane) {
                eachOfLane(block, warpNumber, lane, job.elements, [&](std::uint64_t i) { out[i] = words[i]; });
            });
        });
    }
}

} // namespace deltascope::cuda
