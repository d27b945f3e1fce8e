#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace deltascope {

/// How many elements moved how far, in steps of their type: the distance of their places in the order of values. Bin 0
/// holds distance 1, bin n those above 2^(n-1) and up to 2^n.
struct StepCounts {
    static constexpr std::size_t Bins = 65;
    static constexpr std::size_t binOf(std::uint64_t distance) noexcept
    {
        return static_cast<std::size_t>(std::bit_width(distance - 1));
    }

    std::array<std::uint64_t, Bins> all {};
    std::array<std::uint64_t, Bins> sameLowByte {}; ///< of these, elements of 16 bits that kept their low byte

    bool operator==(const StepCounts&) const = default;
};

} // namespace deltascope
