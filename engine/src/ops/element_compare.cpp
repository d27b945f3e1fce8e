#include "element_compare.h"

#include "deltascope/engine/tensor_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace deltascope {

namespace {

/// How the bits of one element type are read.
template <class Bits> struct FloatFormat {
    unsigned mantissaBits;
    int exponentBias;
    bool hasInfinity; ///< an all-ones exponent is Inf or NaN; without, only the all-ones pattern is NaN
    bool negativeZeroIsNan; ///< "FNUZ" types

    static constexpr unsigned Width = sizeof(Bits) * 8;

    Bits magnitude(Bits bits) const { return static_cast<Bits>(bits & static_cast<Bits>(~signBit())); }
    static constexpr Bits signBit() { return static_cast<Bits>(Bits(1) << (Width - 1)); }

    bool isNan(Bits bits) const
    {
        if (negativeZeroIsNan)
            return bits == signBit();
        const Bits allOnes = static_cast<Bits>(signBit() - 1);
        const Bits infinity = static_cast<Bits>(allOnes & ~((Bits(1) << mantissaBits) - 1));
        return hasInfinity ? magnitude(bits) > infinity : magnitude(bits) == allOnes;
    }

    double value(Bits bits) const
    {
        const auto fraction = static_cast<std::uint64_t>(bits & ((Bits(1) << mantissaBits) - 1));
        const int exponent = static_cast<int>(static_cast<std::uint64_t>(magnitude(bits)) >> mantissaBits);
        const int highest = (1 << (Width - 1 - mantissaBits)) - 1;
        double magnitudeValue = 0;
        if (hasInfinity && exponent == highest)
            magnitudeValue = std::numeric_limits<double>::infinity();
        else if (exponent == 0)
            magnitudeValue =
                std::ldexp(static_cast<double>(fraction), 1 - exponentBias - static_cast<int>(mantissaBits));
        else
            magnitudeValue =
                std::ldexp(1.0 + std::ldexp(static_cast<double>(fraction), -static_cast<int>(mantissaBits)),
                           exponent - exponentBias);
        return (bits & signBit()) ? -magnitudeValue : magnitudeValue;
    }

    /// Position of the pattern in the order of values; both zeros are neighbors (performance notes in patch order).
    std::uint64_t ordered(Bits bits) const
    {
        const std::uint64_t half = std::uint64_t(1) << (Width - 1);
        const auto size = static_cast<std::uint64_t>(magnitude(bits));
        return (bits & signBit()) ? half - 1 - size : half + size;
    }
};

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

template <class Bits> void compareFloats(ByteSpan a, ByteSpan b, const FloatFormat<Bits>& format, TensorDiff& diff)
{
    for (std::size_t at = 0; at + sizeof(Bits) <= a.size(); at += sizeof(Bits)) {
        const Bits x = loadLe<Bits>(a, at);
        const Bits y = loadLe<Bits>(b, at);
        if (x == y)
            continue;
        ++diff.different;
        if (format.isNan(x) || format.isNan(y)) {
            ++diff.nanInvolved;
            continue;
        }
        diff.signFlips += ((x ^ y) & format.signBit()) != 0;
        diff.maxUlp = std::max(diff.maxUlp, distance(format.ordered(x), format.ordered(y)));
        const double gap = std::abs(format.value(x) - format.value(y));
        if (std::isfinite(gap))
            diff.maxAbs = std::max(diff.maxAbs, gap);
    }
}

template <class Number> void compareIntegers(ByteSpan a, ByteSpan b, TensorDiff& diff)
{
    for (std::size_t at = 0; at + sizeof(Number) <= a.size(); at += sizeof(Number)) {
        const Number x = loadLe<Number>(a, at);
        const Number y = loadLe<Number>(b, at);
        if (x == y)
            continue;
        ++diff.different;
        diff.signFlips += (x < 0) != (y < 0);
        // In 64 bits and modulo 2^64, so that large numbers keep small distances.
        const std::uint64_t gap = x > y ? static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y)
                                        : static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x);
        diff.maxAbs = std::max(diff.maxAbs, static_cast<double>(gap));
    }
}

/// Calls `onFloat` with the format of a floating type, `onInteger` with a zero of an integer type; false for types that
/// are neither.
template <class Float, class Integer> bool withNumbers(Dtype dtype, Float onFloat, Integer onInteger)
{
    switch (dtype) {
    case Dtype::BF16:
        onFloat(FloatFormat<std::uint16_t> { 7, 127, true, false });
        return true;
    case Dtype::F16:
        onFloat(FloatFormat<std::uint16_t> { 10, 15, true, false });
        return true;
    case Dtype::F32:
        onFloat(FloatFormat<std::uint32_t> { 23, 127, true, false });
        return true;
    case Dtype::F64:
        onFloat(FloatFormat<std::uint64_t> { 52, 1023, true, false });
        return true;
    case Dtype::F8E5M2:
        onFloat(FloatFormat<std::uint8_t> { 2, 15, true, false });
        return true;
    case Dtype::F8E4M3:
        onFloat(FloatFormat<std::uint8_t> { 3, 7, false, false });
        return true;
    case Dtype::F8E4M3Fnuz:
        onFloat(FloatFormat<std::uint8_t> { 3, 8, false, true });
        return true;
    case Dtype::F8E5M2Fnuz:
        onFloat(FloatFormat<std::uint8_t> { 2, 16, false, true });
        return true;
    case Dtype::I8:
        onInteger(std::int8_t {});
        return true;
    case Dtype::I16:
        onInteger(std::int16_t {});
        return true;
    case Dtype::I32:
        onInteger(std::int32_t {});
        return true;
    case Dtype::I64:
        onInteger(std::int64_t {});
        return true;
    case Dtype::Bool:
    case Dtype::U8:
        onInteger(std::uint8_t {});
        return true;
    case Dtype::U16:
        onInteger(std::uint16_t {});
        return true;
    case Dtype::U32:
        onInteger(std::uint32_t {});
        return true;
    case Dtype::U64:
        onInteger(std::uint64_t {});
        return true;
    case Dtype::F4:
    case Dtype::F6E2M3:
    case Dtype::F6E3M2:
    case Dtype::F8E8M0: // exponents only: no sign and no distance of values
    case Dtype::C64:
        break;
    }
    return false;
}

}

void compareBlocks(ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff)
{
    if (std::memcmp(a.data(), b.data(), a.size()) == 0)
        return;
    const bool numbers = withNumbers(
        dtype, [&](auto format) { compareFloats(a, b, format, diff); },
        [&](auto zero) { compareIntegers<decltype(zero)>(a, b, diff); });
    if (!numbers)
        diff.different += countDifferent(a, b, dtype);
}

std::optional<double> elementValue(ByteSpan bits, Dtype dtype) noexcept
{
    std::optional<double> value;
    withNumbers(
        dtype,
        [&](auto format) {
            using Bits = decltype(format.magnitude(0));
            const Bits pattern = loadLe<Bits>(bits, 0);
            if (const double number = format.value(pattern); !format.isNan(pattern) && std::isfinite(number))
                value = number;
        },
        [&](auto zero) { value = static_cast<double>(loadLe<decltype(zero)>(bits, 0)); });
    return value;
}

} // namespace deltascope
