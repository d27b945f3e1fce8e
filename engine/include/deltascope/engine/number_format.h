#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace deltascope {

// How the bits of element types are read as numbers. All of it can be evaluated by compilers, and so runs on devices,
// too.

/// What an all-ones exponent and a negative zero stand for.
enum class Specials {
    Ieee, ///< infinity and NaN
    AllOnesIsNan, ///< no infinity, and only the all-ones pattern is NaN
    NegativeZeroIsNan, ///< no infinity ("FNUZ")
};

/// A floating type.
template <class Pattern, unsigned MantissaBits, int ExponentBias, Specials Of = Specials::Ieee> struct FloatFormat {
    using Bits = Pattern;

    static constexpr unsigned Width = sizeof(Bits) * 8;
    static constexpr unsigned Mantissa = MantissaBits;
    static constexpr int Bias = ExponentBias;
    static constexpr Specials Special = Of;
    static constexpr bool IsInteger = false;

    constexpr Bits magnitude(Bits bits) const { return static_cast<Bits>(bits & static_cast<Bits>(~signBit())); }
    static constexpr Bits signBit() { return static_cast<Bits>(Bits(1) << (Width - 1)); }

    constexpr bool isNan(Bits bits) const
    {
        if constexpr (Of == Specials::NegativeZeroIsNan)
            return bits == signBit();
        else if constexpr (Of == Specials::AllOnesIsNan)
            return magnitude(bits) == static_cast<Bits>(signBit() - 1);
        else
            return magnitude(bits) > Infinity;
    }

    /// NaN or infinity.
    constexpr bool isSpecial(Bits bits) const
    {
        return Of == Specials::Ieee ? magnitude(bits) >= Infinity : isNan(bits);
    }

    constexpr double value(Bits bits) const
    {
        if constexpr (Width == 32)
            return static_cast<double>(std::bit_cast<float>(bits));
        else if constexpr (Width == 64)
            return std::bit_cast<double>(bits);
        else if constexpr (Width == 16 && ExponentBias == 127) // BF16: the upper half of an F32
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << Width));
        else {
            // In the bits of a double, which holds each of these values exactly and has room for their exponents.
            constexpr int DoubleBias = 1023;
            constexpr unsigned Fraction = 52;
            const auto fraction = static_cast<std::uint64_t>(bits & FractionMask);
            const int exponent = static_cast<int>(static_cast<std::uint64_t>(magnitude(bits)) >> MantissaBits);
            const auto powerOfTwo = [](int n) { return static_cast<std::uint64_t>(DoubleBias + n) << Fraction; };
            double magnitudeValue = 0;
            if (Of == Specials::Ieee && isSpecial(bits))
                magnitudeValue = std::numeric_limits<double>::infinity();
            else if (exponent == 0)
                magnitudeValue = static_cast<double>(fraction)
                    * std::bit_cast<double>(powerOfTwo(1 - ExponentBias - static_cast<int>(MantissaBits)));
            else
                magnitudeValue =
                    std::bit_cast<double>(powerOfTwo(exponent - ExponentBias) | fraction << (Fraction - MantissaBits));
            return (bits & signBit()) ? -magnitudeValue : magnitudeValue;
        }
    }

    /// Position of the pattern in the order of values; both zeros are neighbors (performance notes in patch order).
    constexpr std::uint64_t ordered(Bits bits) const
    {
        const std::uint64_t half = std::uint64_t(1) << (Width - 1);
        const auto size = static_cast<std::uint64_t>(magnitude(bits));
        // half - 1 - size for negative ones, without a branch: signs are as good as random.
        return half + (size ^ (0 - static_cast<std::uint64_t>(bits >> (Width - 1))));
    }
    /// The bits at a position.
    constexpr Bits pattern(std::uint64_t position) const
    {
        const std::uint64_t half = std::uint64_t(1) << (Width - 1);
        return position < half ? static_cast<Bits>(signBit() | (half - 1 - position))
                               : static_cast<Bits>(position - half);
    }

private:
    static constexpr Bits FractionMask = static_cast<Bits>((Bits(1) << MantissaBits) - 1);
    static constexpr Bits Infinity = static_cast<Bits>(static_cast<Bits>(~Bits(0)) / 2 & ~FractionMask);
};

/// An integer type; the same functions as a floating one.
template <class Number> struct IntegerFormat {
    using Bits = std::make_unsigned_t<Number>;
    using Value = Number;

    static constexpr unsigned Width = sizeof(Bits) * 8;
    static constexpr bool IsInteger = true;

    static constexpr Bits signBit() { return static_cast<Bits>(std::is_signed_v<Number> ? Bits(1) << (Width - 1) : 0); }
    constexpr bool isNan(Bits) const { return false; }
    constexpr bool isSpecial(Bits) const { return false; }
    constexpr double value(Bits bits) const { return static_cast<double>(static_cast<Number>(bits)); }
    constexpr std::uint64_t ordered(Bits bits) const { return static_cast<Bits>(bits ^ signBit()); }
    constexpr Bits pattern(std::uint64_t position) const
    {
        return static_cast<Bits>(static_cast<Bits>(position) ^ signBit());
    }
};

/// The format of each type of numbers; Bool has that of U8.
template <Dtype Type> struct NumberFormatOf;
template <> struct NumberFormatOf<Dtype::BF16> : FloatFormat<std::uint16_t, 7, 127> {
};
template <> struct NumberFormatOf<Dtype::F16> : FloatFormat<std::uint16_t, 10, 15> {
};
template <> struct NumberFormatOf<Dtype::F32> : FloatFormat<std::uint32_t, 23, 127> {
};
template <> struct NumberFormatOf<Dtype::F64> : FloatFormat<std::uint64_t, 52, 1023> {
};
template <> struct NumberFormatOf<Dtype::F8E5M2> : FloatFormat<std::uint8_t, 2, 15> {
};
template <> struct NumberFormatOf<Dtype::F8E4M3> : FloatFormat<std::uint8_t, 3, 7, Specials::AllOnesIsNan> {
};
template <> struct NumberFormatOf<Dtype::F8E4M3Fnuz> : FloatFormat<std::uint8_t, 3, 8, Specials::NegativeZeroIsNan> {
};
template <> struct NumberFormatOf<Dtype::F8E5M2Fnuz> : FloatFormat<std::uint8_t, 2, 16, Specials::NegativeZeroIsNan> {
};
template <> struct NumberFormatOf<Dtype::I8> : IntegerFormat<std::int8_t> {
};
template <> struct NumberFormatOf<Dtype::I16> : IntegerFormat<std::int16_t> {
};
template <> struct NumberFormatOf<Dtype::I32> : IntegerFormat<std::int32_t> {
};
template <> struct NumberFormatOf<Dtype::I64> : IntegerFormat<std::int64_t> {
};
template <> struct NumberFormatOf<Dtype::U8> : IntegerFormat<std::uint8_t> {
};
template <> struct NumberFormatOf<Dtype::U16> : IntegerFormat<std::uint16_t> {
};
template <> struct NumberFormatOf<Dtype::U32> : IntegerFormat<std::uint32_t> {
};
template <> struct NumberFormatOf<Dtype::U64> : IntegerFormat<std::uint64_t> {
};

/// As value(), NaN for NaN in every format.
template <class Format> constexpr double numberOf(const Format& format, typename Format::Bits bits)
{
    return format.isNan(bits) ? std::numeric_limits<double>::quiet_NaN() : format.value(bits);
}

/// Between two places in the order of values.
constexpr std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

/// Calls `onFloat` with the FloatFormat of a floating type, `onInteger` with the IntegerFormat of an integer type;
/// false for types that are neither.
template <class Float, class Integer> bool withNumbers(Dtype dtype, Float onFloat, Integer onInteger)
{
    switch (dtype) {
    case Dtype::BF16:
        onFloat(NumberFormatOf<Dtype::BF16> {});
        return true;
    case Dtype::F16:
        onFloat(NumberFormatOf<Dtype::F16> {});
        return true;
    case Dtype::F32:
        onFloat(NumberFormatOf<Dtype::F32> {});
        return true;
    case Dtype::F64:
        onFloat(NumberFormatOf<Dtype::F64> {});
        return true;
    case Dtype::F8E5M2:
        onFloat(NumberFormatOf<Dtype::F8E5M2> {});
        return true;
    case Dtype::F8E4M3:
        onFloat(NumberFormatOf<Dtype::F8E4M3> {});
        return true;
    case Dtype::F8E4M3Fnuz:
        onFloat(NumberFormatOf<Dtype::F8E4M3Fnuz> {});
        return true;
    case Dtype::F8E5M2Fnuz:
        onFloat(NumberFormatOf<Dtype::F8E5M2Fnuz> {});
        return true;
    case Dtype::I8:
        onInteger(NumberFormatOf<Dtype::I8> {});
        return true;
    case Dtype::I16:
        onInteger(NumberFormatOf<Dtype::I16> {});
        return true;
    case Dtype::I32:
        onInteger(NumberFormatOf<Dtype::I32> {});
        return true;
    case Dtype::I64:
        onInteger(NumberFormatOf<Dtype::I64> {});
        return true;
    case Dtype::Bool:
    case Dtype::U8:
        onInteger(NumberFormatOf<Dtype::U8> {});
        return true;
    case Dtype::U16:
        onInteger(NumberFormatOf<Dtype::U16> {});
        return true;
    case Dtype::U32:
        onInteger(NumberFormatOf<Dtype::U32> {});
        return true;
    case Dtype::U64:
        onInteger(NumberFormatOf<Dtype::U64> {});
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

} // namespace deltascope
