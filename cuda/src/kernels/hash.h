#pragma once

#include "kernels/rows.h"

// XXH3-128 of leaves of a hash tree, with the library's own secret and seed 0, as its specification says for inputs of
// more than 240 bytes: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

namespace deltascope::cuda {

/// 8 lanes have the 8 accumulators of one leaf.
constexpr unsigned LeafLanes = 8;
constexpr unsigned LeavesPerWarp = Lanes / LeafLanes;

namespace xxh3 {

constexpr std::uint64_t Prime32_1 = 0x9E3779B1;
constexpr std::uint64_t Prime32_2 = 0x85EBCA77;
constexpr std::uint64_t Prime32_3 = 0xC2B2AE3D;
constexpr std::uint64_t Prime64_1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t Prime64_2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t Prime64_3 = 0x165667B19E3779F9;
constexpr std::uint64_t Prime64_4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t Prime64_5 = 0x27D4EB2F165667C5;

constexpr std::uint64_t StripeBytes = 64;
constexpr std::uint64_t BlockStripes = 16;
constexpr std::uint64_t BlockBytes = StripeBytes * BlockStripes;
constexpr unsigned ScrambleSecret = 128; ///< where in the secret
constexpr unsigned LastStripeSecret = 121;
constexpr unsigned LowSecret = 11;
constexpr unsigned HighSecret = 117;

DELTASCOPE_TILE std::uint64_t accumulatorAtStart(unsigned i)
{
    switch (i) {
    case 0:
        return Prime32_3;
    case 1:
        return Prime64_1;
    case 2:
        return Prime64_2;
    case 3:
        return Prime64_3;
    case 4:
        return Prime64_4;
    case 5:
        return Prime32_2;
    case 6:
        return Prime64_5;
    default:
        return Prime32_1;
    }
}

DELTASCOPE_TILE std::uint64_t load64(const std::uint8_t* bytes)
{
    if (reinterpret_cast<std::uintptr_t>(bytes) % sizeof(std::uint64_t) == 0)
        return *reinterpret_cast<const std::uint64_t*>(bytes);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < sizeof value; ++i)
        value |= std::uint64_t { bytes[i] } << (8 * i);
    return value;
}

DELTASCOPE_TILE std::uint64_t avalanche(std::uint64_t hash)
{
    hash ^= hash >> 37;
    hash *= 0x165667919E3779F9;
    return hash ^ hash >> 32;
}

} // namespace xxh3

/// One warp: LeavesPerWarp leaves from `first` on.
template <class Warp>
DELTASCOPE_TILE void hashLeaves(const Warp& warp, const HashArguments& arguments, std::uint64_t first)
{
    using namespace xxh3;
    const auto* const leaves = reinterpret_cast<const LeafJob*>(arguments.leaves);
    struct Lane {
        const std::uint8_t* bytes = nullptr;
        std::uint64_t size = 0; ///< 0 behind the last leaf
        std::uint64_t stripes = 0; ///< but for the last one, which overlaps the one in front
        std::uint64_t blockStripes = 0; ///< those of whole blocks
        std::uint64_t sum = 0;
    };
    typename Warp::template PerLane<Lane> lanes;
    typename Warp::template PerLane<std::uint64_t> stripes;
    typename Warp::template PerLane<std::uint64_t> data;
    const auto accumulatorOf = [](unsigned lane) { return lane % LeafLanes; };
    warp.each([&](unsigned lane) {
        const std::uint64_t leaf = first + lane / LeafLanes;
        Lane of;
        if (leaf < arguments.leafCount) {
            of.bytes = reinterpret_cast<const std::uint8_t*>(leaves[leaf].bytes);
            of.size = leaves[leaf].size;
            of.stripes = (of.size - 1) / StripeBytes;
            of.blockStripes = (of.size - 1) / BlockBytes * BlockStripes;
        }
        of.sum = accumulatorAtStart(accumulatorOf(lane));
        lanes[lane] = of;
        stripes[lane] = of.stripes;
    });
    // Each accumulator takes the product of the halves of its own data and the data of its neighbor.
    const auto accumulate = [&](auto placeOf, auto secretOf, auto thenDo) {
        warp.each([&](unsigned lane) {
            const Lane& of = lanes[lane];
            const std::int64_t at = placeOf(of);
            data[lane] = at < 0 ? 0 : load64(of.bytes + at + 8 * accumulatorOf(lane));
        });
        const auto neighbors = warp.crossed(data, 1);
        warp.each([&](unsigned lane) {
            Lane& of = lanes[lane];
            if (placeOf(of) < 0)
                return;
            const std::uint64_t key = data[lane] ^ load64(arguments.secret + secretOf + 8 * accumulatorOf(lane));
            of.sum += neighbors[lane] + (key & 0xffffffff) * (key >> 32);
            thenDo(of, accumulatorOf(lane));
        });
    };
    const std::uint64_t most = warp.max(stripes);
    for (std::uint64_t stripe = 0; stripe < most; ++stripe) {
        const std::uint64_t ofBlock = stripe % BlockStripes;
        accumulate(
            [&](const Lane& of) {
                return stripe < of.stripes ? static_cast<std::int64_t>(stripe * StripeBytes) : std::int64_t { -1 };
            },
            8 * ofBlock,
            [&](Lane& of, unsigned accumulator) {
                if (ofBlock == BlockStripes - 1 && stripe < of.blockStripes)
                    of.sum = (of.sum ^ of.sum >> 47 ^ load64(arguments.secret + ScrambleSecret + 8 * accumulator))
                        * Prime32_1;
            });
    }
    accumulate([](const Lane& of) { return static_cast<std::int64_t>(of.size) - std::int64_t { 64 }; },
               std::uint64_t { LastStripeSecret }, [](Lane&, unsigned) {});

    // Pairs of accumulators are folded, and added up over the lanes of a leaf.
    const auto merged = [&](unsigned secret) {
        warp.each([&](unsigned lane) {
            data[lane] = lanes[lane].sum ^ load64(arguments.secret + secret + 8 * accumulatorOf(lane));
        });
        const auto neighbors = warp.crossed(data, 1);
        typename Warp::template PerLane<std::uint64_t> sums;
        warp.each([&](unsigned lane) {
            const std::uint64_t folded = data[lane] * neighbors[lane] ^ highProduct(data[lane], neighbors[lane]);
            sums[lane] = lane % 2 == 0 ? folded : 0;
        });
        for (unsigned mask = 2; mask < LeafLanes; mask *= 2) {
            const auto others = warp.crossed(sums, mask);
            warp.each([&](unsigned lane) { sums[lane] += others[lane]; });
        }
        return sums;
    };
    const auto low = merged(LowSecret);
    const auto high = merged(HighSecret);
    warp.each([&](unsigned lane) {
        const Lane& of = lanes[lane];
        if (accumulatorOf(lane) != 0 || of.size == 0)
            return;
        auto* const digest = reinterpret_cast<std::uint64_t*>(arguments.digests) + 2 * (first + lane / LeafLanes);
        digest[0] = avalanche(of.size * Prime64_1 + low[lane]);
        digest[1] = avalanche(~(of.size * Prime64_2) + high[lane]);
    });
}

} // namespace deltascope::cuda
