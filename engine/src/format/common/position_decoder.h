#pragma once

#include "deltascope/base/bytes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace deltascope {

// Lists of ascending positions, decoded block by block. Both functions work on `count` stored integers at `in` and
// write positions relative to `begin` to `out` while they lie below `end`. `next` is the smallest position that may
// come, at most `end`; 64 bits throughout. They return how many they wrote: fewer than `count` means that the integer
// behind them belongs to a later block or breaks the rules. The one branch per element is both the block's end and the
// check.

/// Stored: the number of positions left out since the one before (gap - 1).
template <class Stored>
std::size_t decodeGaps(const std::byte* in, std::size_t count, std::uint64_t begin, std::uint64_t end,
                       std::uint64_t& next, std::uint32_t* out) noexcept
{
    std::uint64_t at = next;
    std::size_t i = 0;
    for (; i < count; ++i) {
        Stored gap;
        std::memcpy(&gap, in + i * sizeof gap, sizeof gap);
        if (gap >= end - at)
            break;
        at += gap;
        out[i] = static_cast<std::uint32_t>(at - begin);
        ++at;
    }
    next = at;
    return i;
}

/// Stored: the positions themselves. Negative ones become large and stop the loop.
template <class Stored>
std::size_t decodePositions(const std::byte* in, std::size_t count, std::uint64_t begin, std::uint64_t end,
                            std::uint64_t& next, std::uint32_t* out) noexcept
{
    std::uint64_t at = next;
    std::size_t i = 0;
    for (; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, in + i * sizeof stored, sizeof stored);
        const auto position = static_cast<std::uint64_t>(stored);
        if (position - at >= end - at)
            break;
        out[i] = static_cast<std::uint32_t>(position - begin);
        at = position + 1;
    }
    next = at;
    return i;
}

} // namespace deltascope
