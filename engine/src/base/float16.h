#pragma once

#include <bit>
#include <cstdint>

namespace deltascope {

// Sixteen-bit floating types as bit patterns; conversions from float round to nearest, ties to even, and keep NaN NaN.

inline float bf16ToFloat(std::uint16_t bits) noexcept { return std::bit_cast<float>(std::uint32_t { bits } << 16); }

inline std::uint16_t floatToBf16(float value) noexcept
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U)
        return static_cast<std::uint16_t>((bits >> 16) | 0x40U); // stays a NaN whatever is cut off
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float f16ToFloat(std::uint16_t bits) noexcept
{
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) { // zero and subnormals: a multiple of 2^-24
        const float size = static_cast<float>(fraction) * 0x1p-24F;
        return sign != 0 ? -size : size;
    }
    const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + 112;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

inline std::uint16_t floatToF16(float value) noexcept
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
    const std::uint32_t size = bits & 0x7fffffffU;
    if (size > 0x7f800000U)
        return static_cast<std::uint16_t>(sign | 0x7e00U | ((size >> 13) & 0x3ffU));
    if (size >= 0x477ff000U) // at least halfway from the largest finite value to the next power of two
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (size < 0x38800000U) { // below the smallest normal: the addition rounds to a multiple of 2^-24
        const float shifted = std::bit_cast<float>(size) + 0.5F;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
    }
    const std::uint32_t rounded = size + 0xfffU + ((size >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

} // namespace deltascope
