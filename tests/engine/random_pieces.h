#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/backend.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

// What pieces of patches are made of: states and positions in which special numbers and places are frequent.

namespace deltascope::random_pieces {

using Random = std::mt19937_64;

/// Bytes out of few values, so that elements are often zero, -0, infinity, NaN, or alike in some of their bytes.
inline std::vector<std::byte> crowded(std::size_t size, Random& random)
{
    constexpr unsigned Values[] = { 0x00, 0x00, 0x00, 0x80, 0x80, 0x7f, 0xff, 0xf0, 0x7c, 0xfe, 0x01, 0xc0 };
    std::vector<std::byte> out(size);
    for (std::byte& byte : out)
        byte = static_cast<std::byte>(Values[random() % std::size(Values)]);
    return out;
}

/// `bytes` with about this share of them replaced; 1: all.
inline std::vector<std::byte> changed(std::vector<std::byte> bytes, double share, Random& random)
{
    const std::vector<std::byte> other = crowded(bytes.size(), random);
    std::bernoulli_distribution isChanged(share);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (isChanged(random))
            bytes[i] = other[i];
    }
    return bytes;
}

/// Ascending positions below `count`: none, the first and the last, some, all.
inline std::vector<std::vector<std::uint32_t>> positionsBelow(std::size_t count, Random& random)
{
    if (count == 0)
        return { {} };
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<std::uint32_t> some;
    std::sample(all.begin(), all.end(), std::back_inserter(some), count / 7 + 1, random);
    const auto last = static_cast<std::uint32_t>(count - 1);
    return { {}, { 0 }, { last }, last > 0 ? std::vector<std::uint32_t> { 0, last } : all, some, all };
}

/// The elements at `positions` one after another, packed as in a piece.
inline std::vector<std::byte> picked(ByteSpan block, const std::vector<std::uint32_t>& positions, unsigned bits)
{
    std::vector<std::byte> out((positions.size() * bits + 7) / 8);
    for (std::size_t i = 0; i < positions.size() * bits; ++i) {
        const std::size_t from = std::size_t { positions[i / bits] } * bits + i % bits;
        out[i / 8] |= ((block[from / 8] >> (from % 8)) & std::byte { 1 }) << (i % 8);
    }
    return out;
}

/// A piece, with what it refers to.
struct OwnPiece {
    std::vector<std::uint32_t> positions;
    std::vector<std::byte> bytes;
    PatchPiece piece;
};

/// A piece that replaces bits, of any kind, for a block that is in this state. Often it changes nothing, or one byte of
/// an element alone.
inline OwnPiece randomPiece(const std::vector<std::byte>& state, Dtype dtype, Random& random)
{
    constexpr double Shares[] = { 0.0, 0.01, 0.1, 0.5, 1.0 };
    const double share = Shares[random() % std::size(Shares)];
    const unsigned bits = bitsOf(dtype);
    const auto bytes = [&](bool isXor) { // of the whole block
        return changed(isXor ? std::vector<std::byte>(state.size()) : state, share, random);
    };
    const auto some = [&](std::size_t count) {
        std::vector<std::vector<std::uint32_t>> all = positionsBelow(count, random);
        return std::move(all[random() % all.size()]);
    };
    OwnPiece own;
    switch (random() % 6) {
    case 0:
        break;
    case 1:
        own.bytes = bytes(false);
        own.piece = FullBlock { own.bytes };
        break;
    case 2:
        own.bytes = bytes(true);
        own.piece = XorBlock { own.bytes };
        break;
    case 3:
        own.positions = some(state.size() * 8 / bits);
        own.bytes = picked(bytes(false), own.positions, bits);
        own.piece = AssignElements { own.positions, own.bytes };
        break;
    case 4:
        own.positions = some(state.size() * 8 / bits);
        own.bytes = picked(bytes(true), own.positions, bits);
        own.piece = XorElements { own.positions, own.bytes };
        break;
    default:
        own.positions = some(state.size());
        own.bytes = picked(bytes(false), own.positions, 8);
        own.piece = AssignBytes { own.positions, own.bytes };
    }
    return own;
}

} // namespace deltascope::random_pieces
