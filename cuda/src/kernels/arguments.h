#pragma once

#include "deltascope/engine/device_module.h"

#include <cstdint>

// What kernels are launched with, and what they write: plain values, the same on host and device.

namespace deltascope::cuda {

using Address = std::uint64_t; ///< in the memory of the device

/// Elements that are compared, measured and found together: positions in a block fit 16 bits, and sums of moments do
/// not depend on how a tensor is cut (Backend::MomentElements).
constexpr std::uint32_t BlockElements = 16384;

/// Two stretches of one tensor. `firstBlock`: how many blocks the jobs in front of it have.
struct PairJob {
    Address before;
    Address after;
    Address out; ///< extract: where the new bits of what changed go, too; 0: nowhere
    std::uint64_t elements;
    std::uint64_t firstBlock;
};

/// What extract finds in a block, and where that is in `positions` and `values`: a DeviceFoundBlock.
using BlockChanges = DeviceFoundBlock;
constexpr std::uint64_t NoRoom = DeviceFoundBlock::NoRoom;

struct SumArguments {
    Address jobs; ///< PairJob
    Address jobOfBlock; ///< std::uint32_t
    std::uint64_t blocks;
    Address sums; ///< std::uint32_t for each block
};

struct ExtractArguments {
    Address jobs; ///< PairJob
    Address jobOfBlock; ///< std::uint32_t
    std::uint64_t blocks;
    Address changes; ///< BlockChanges for each block
    Address positions; ///< std::uint16_t, relative to the block
    Address values; ///< the new bits
    std::uint64_t room; ///< elements of both
    Address used; ///< std::uint64_t, zero at the start; more than `room` if something did not fit
};

/// `dtype`: a deltascope::Dtype.
struct MomentArguments {
    Address jobs; ///< PairJob
    Address jobOfBlock; ///< std::uint32_t
    std::uint64_t blocks;
    Address moments; ///< DiffMoments for each block
};

/// Bits are a NaN if ((bits ^ flip) & mask) > limit.
struct NanRule {
    std::uint64_t flip;
    std::uint64_t mask;
    std::uint64_t limit;

    constexpr bool isNan(std::uint64_t bits) const { return ((bits ^ flip) & mask) > limit; }
};

/// What one version does to a block.
using ReplayPiece = DevicePiece;

/// What becomes of a block: its pieces, in order.
struct ReplayJob {
    Address block;
    std::uint64_t elements;
    std::uint64_t firstPiece;
    std::uint64_t pieces;
};

struct ReplayArguments {
    Address jobs; ///< ReplayJob
    std::uint64_t jobCount;
    Address pieces; ///< ReplayPiece
    Address counts; ///< DevicePatchCounts for each piece, all zero at the start
    NanRule nan;
    std::uint64_t minusZero; ///< its bits; 0: the type has none
};

/// One leaf of a hash tree, of more than 240 bytes.
struct LeafJob {
    Address bytes;
    std::uint64_t size;
};

struct HashArguments {
    Address leaves; ///< LeafJob
    std::uint64_t leafCount;
    Address digests; ///< two std::uint64_t for each leaf: the low half of its XXH3-128, then the high one
    std::uint8_t secret[192]; ///< of XXH3
};

} // namespace deltascope::cuda
