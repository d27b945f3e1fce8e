#include "state/rounding.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace deltascope {

namespace {

std::uint16_t bf16Of(std::uint32_t bits) noexcept
{
    constexpr std::uint32_t Infinity = 0x7F80'0000;
    constexpr std::uint16_t QuietNan = 0x7FC0;
    if ((bits & 0xFFFF) == 0)
        return static_cast<std::uint16_t>(bits >> 16); // nothing is cut off, of a NaN neither
    if ((bits & 0x7FFF'FFFF) > Infinity)
        return QuietNan; // c10::detail::round_to_nearest_even drops the sign
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::uint16_t f16Of(std::uint32_t bits) noexcept
{
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const std::uint32_t magnitude = bits & 0x7FFF'FFFF;
    constexpr std::uint32_t Infinity = 0x7F80'0000;
    constexpr std::uint32_t Overflow = 0x477F'F000; // 65520: rounds to infinity
    constexpr std::uint32_t LeastNormal = 0x3880'0000; // 2^-14
    constexpr std::uint32_t HalfOfLeast = 0x3300'0000; // 2^-25: rounds to zero
    if (magnitude > Infinity && (magnitude & 0x1FFF) == 0)
        return static_cast<std::uint16_t>(sign | 0x7C00 | ((magnitude & 0x7F'FFFF) >> 13)); // nothing is cut off
    if (magnitude > Infinity)
        return sign | 0x7E00;
    if (magnitude >= Overflow)
        return sign | 0x7C00;
    if (magnitude <= HalfOfLeast)
        return sign;
    // What is cut off counts as a fraction of the last bit that stays.
    const auto rounded = [](std::uint32_t value, std::uint32_t cut) {
        const std::uint32_t half = 1U << (cut - 1);
        return (value + half - 1 + ((value >> cut) & 1)) >> cut;
    };
    if (magnitude < LeastNormal) {
        const std::uint32_t mantissa = (magnitude & 0x7F'FFFF) | 0x80'0000;
        return static_cast<std::uint16_t>(sign | rounded(mantissa, 126 - (magnitude >> 23)));
    }
    constexpr std::uint32_t Rebias = (127 - 15) << 23;
    return static_cast<std::uint16_t>(sign | rounded(magnitude - Rebias, 13));
}

std::uint32_t f32Of(std::uint64_t bits) noexcept
{
    constexpr std::uint64_t Infinity = 0x7FF0'0000'0000'0000;
    constexpr std::uint64_t CutOff = (1ULL << 29) - 1;
    if ((bits & ~(1ULL << 63)) > Infinity && (bits & CutOff) == 0)
        return static_cast<std::uint32_t>(bits >> 32 & 0x8000'0000) | 0x7F80'0000
            | static_cast<std::uint32_t>((bits & 0xF'FFFF'FFFF'FFFF) >> 29); // a NaN of which nothing is cut off
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
}

/// The float to round further so that it is rounded once: where bits are cut off, toward zero with the last bit set.
/// Then a value beside the middle between two narrow ones never looks like the middle itself.
std::uint32_t oddF32Of(std::uint64_t bits) noexcept
{
    const double exact = std::bit_cast<double>(bits);
    const std::uint32_t nearest = f32Of(bits);
    const double rounded = std::bit_cast<float>(nearest);
    if (std::isnan(exact) || rounded == exact)
        return nearest;
    return (nearest - (std::fabs(rounded) > std::fabs(exact) ? 1 : 0)) | 1;
}

template <class Wide, class Narrow, class Round> void roundAll(ByteSpan wide, MutableByteSpan out, Round round) noexcept
{
    const std::size_t count = wide.size() / sizeof(Wide);
    for (std::size_t i = 0; i < count; ++i) {
        const Narrow value = round(loadLe<Wide>(wide, i * sizeof(Wide)));
        std::memcpy(&out[i * sizeof(Narrow)], &value, sizeof value);
    }
}

}

std::optional<Dtype> commonDtype(Dtype a, Dtype b) noexcept
{
    if (a == b)
        return a;
    for (const auto& [wide, narrow] : { std::pair(a, b), std::pair(b, a) }) {
        const bool isRounded = (wide == Dtype::F32 && (narrow == Dtype::BF16 || narrow == Dtype::F16))
            || (wide == Dtype::F64 && (narrow == Dtype::F32 || narrow == Dtype::BF16 || narrow == Dtype::F16));
        if (isRounded)
            return narrow;
    }
    return std::nullopt;
}

void roundElements(ByteSpan wide, Dtype from, Dtype to, MutableByteSpan out) noexcept
{
    if (from == Dtype::F64 && to == Dtype::F32)
        return roundAll<std::uint64_t, std::uint32_t>(wide, out, f32Of);
    if (from == Dtype::F64 && to == Dtype::BF16)
        return roundAll<std::uint64_t, std::uint16_t>(wide, out,
                                                      [](std::uint64_t bits) { return bf16Of(oddF32Of(bits)); });
    if (from == Dtype::F64)
        return roundAll<std::uint64_t, std::uint16_t>(wide, out,
                                                      [](std::uint64_t bits) { return f16Of(oddF32Of(bits)); });
    if (to == Dtype::BF16)
        return roundAll<std::uint32_t, std::uint16_t>(wide, out, bf16Of);
    roundAll<std::uint32_t, std::uint16_t>(wide, out, f16Of);
}

} // namespace deltascope
