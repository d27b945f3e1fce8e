#include "state/rounding.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

// Rounding to narrower dtypes, against a search of the nearest value.

namespace deltascope {
namespace {

double f16Value(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const int mantissa = bits & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bf16Value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t { bits } << 16); }

template <class Wide> std::uint16_t roundedBits(Wide value, Dtype to)
{
    std::array<std::byte, sizeof(Wide)> wide {};
    std::array<std::byte, 2> narrow {};
    std::memcpy(wide.data(), &value, sizeof value);
    roundElements(wide, sizeof(Wide) == 8 ? Dtype::F64 : Dtype::F32, to, narrow);
    std::uint16_t bits = 0;
    std::memcpy(&bits, narrow.data(), 2);
    return bits;
}

/// Both neighbors of each value in between, and the ties.
void expectNearest(Dtype to, double (*valueOf)(std::uint16_t), std::uint16_t largest)
{
    for (std::uint32_t bits = 0; bits < largest; ++bits) {
        const auto low = static_cast<std::uint16_t>(bits);
        const auto high = static_cast<std::uint16_t>(bits + 1);
        const double tie = (valueOf(low) + valueOf(high)) / 2;
        const auto middle = static_cast<float>(tie);
        ASSERT_EQ(static_cast<double>(middle), tie);
        const std::uint16_t even = low % 2 == 0 ? low : high;
        ASSERT_EQ(roundedBits(static_cast<float>(valueOf(low)), to), low);
        ASSERT_EQ(roundedBits(middle, to), even) << bits;
        ASSERT_EQ(roundedBits(std::nextafter(middle, 0.0F), to), low) << bits;
        ASSERT_EQ(roundedBits(std::nextafter(middle, INFINITY), to), high) << bits;
        ASSERT_EQ(roundedBits(-middle, to), even | 0x8000) << bits;
    }
}

TEST(Rounding, GoesToTheNearestF16) { expectNearest(Dtype::F16, f16Value, 0x7BFF); }

TEST(Rounding, GoesToTheNearestBf16)
{
    for (const std::uint32_t from : { 0x0080U, 0x3F80U, 0x7F00U }) { // normal numbers of all sizes
        for (std::uint32_t bits = from; bits < from + 0x7F; ++bits) {
            const double tie =
                (bf16Value(static_cast<std::uint16_t>(bits)) + bf16Value(static_cast<std::uint16_t>(bits + 1))) / 2;
            const auto middle = static_cast<float>(tie);
            const std::uint32_t even = bits + bits % 2;
            ASSERT_EQ(roundedBits(middle, Dtype::BF16), even);
            ASSERT_EQ(roundedBits(std::nextafter(middle, 0.0F), Dtype::BF16), bits);
            ASSERT_EQ(roundedBits(std::nextafter(middle, INFINITY), Dtype::BF16), bits + 1);
        }
    }
}

TEST(Rounding, KeepsInfinitiesAndNaN)
{
    EXPECT_EQ(roundedBits(65504.0F, Dtype::F16), 0x7BFF);
    EXPECT_EQ(roundedBits(65520.0F, Dtype::F16), 0x7C00) << "beyond the largest one";
    EXPECT_EQ(roundedBits(std::nextafter(65520.0F, 0.0F), Dtype::F16), 0x7BFF);
    EXPECT_EQ(roundedBits(INFINITY, Dtype::F16), 0x7C00);
    EXPECT_EQ(roundedBits(-INFINITY, Dtype::BF16), 0xFF80);
    EXPECT_EQ(roundedBits(3.4e38F, Dtype::BF16), 0x7F80);
    EXPECT_EQ(roundedBits(NAN, Dtype::BF16), 0x7FC0);
    EXPECT_EQ(roundedBits(std::bit_cast<float>(0x7F800001U), Dtype::BF16), 0x7FC0) << "a NaN stays one";
    EXPECT_EQ(roundedBits(std::bit_cast<float>(0xFF800001U), Dtype::F16) & 0x7E00, 0x7E00);
    EXPECT_EQ(roundedBits(1e-30F, Dtype::F16), 0);
}

TEST(Rounding, OfF64IsThatOfTheMachine)
{
    const std::array<double, 4> wide { 1.0, 1.0 + 1e-9, 1e300, -0.1 };
    std::array<float, 4> narrow {};
    roundElements(std::as_bytes(std::span(wide)), Dtype::F64, Dtype::F32, std::as_writable_bytes(std::span(narrow)));
    EXPECT_EQ(narrow, (std::array<float, 4> { 1.0F, 1.0F, INFINITY, -0.1F }));
}

/// What a float cannot tell from the middle between two narrow values is not rounded to the even one of both.
TEST(Rounding, OfF64RoundsOnce)
{
    const auto expectOnce = [](Dtype to, double (*valueOf)(std::uint16_t), const std::vector<std::uint16_t>& all) {
        for (const std::uint16_t low : all) {
            const auto high = static_cast<std::uint16_t>(low + 1);
            const double tie = (valueOf(low) + valueOf(high)) / 2;
            EXPECT_EQ(roundedBits(valueOf(low), to), low);
            EXPECT_EQ(roundedBits(tie, to), low % 2 == 0 ? low : high) << low;
            EXPECT_EQ(roundedBits(std::nextafter(tie, 0.0), to), low) << low;
            EXPECT_EQ(roundedBits(std::nextafter(tie, INFINITY), to), high) << low;
            EXPECT_EQ(roundedBits(-std::nextafter(tie, INFINITY), to), high | 0x8000) << low;
        }
    };
    expectOnce(Dtype::BF16, bf16Value, { 0x0000, 0x0001, 0x007F, 0x0080, 0x3F80, 0x3F81, 0x7F7D, 0x7F7E });
    expectOnce(Dtype::F16, f16Value, { 0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x3C01, 0x7BFD, 0x7BFE });
    EXPECT_EQ(roundedBits(1e300, Dtype::BF16), 0x7F80);
    EXPECT_EQ(roundedBits(-1e300, Dtype::F16), 0xFC00);
    EXPECT_EQ(roundedBits(1e-300, Dtype::BF16), 0);
    EXPECT_EQ(roundedBits(-double { INFINITY }, Dtype::F16), 0xFC00);
    EXPECT_EQ(roundedBits(double { NAN }, Dtype::BF16) & 0x7FC0, 0x7FC0);
}

/// A NaN that was only widened is the same one when it is rounded back, of either sign, quiet or signaling.
TEST(Rounding, KeepsANaNOfWhichNothingIsCutOff)
{
    for (const std::uint32_t nan : { 0x7F81U, 0x7FC0U, 0x7FFFU, 0xFF81U, 0xFFC0U, 0xFFFFU }) {
        EXPECT_EQ(roundedBits(nan << 16, Dtype::BF16), nan);
        const std::uint64_t inF64 = (nan & 0x8000ULL) << 48 | 0x7FF0ULL << 48 | (nan & 0x7FULL) << 45;
        EXPECT_EQ(roundedBits(inF64, Dtype::BF16), nan);
    }
    for (const std::uint32_t nan : { 0x7C01U, 0x7E00U, 0xFC01U, 0xFE00U, 0xFFFFU }) {
        EXPECT_EQ(roundedBits((nan & 0x8000U) << 16 | 0x7F80U << 16 | (nan & 0x3FFU) << 13, Dtype::F16), nan);
        const std::uint64_t inF64 = (nan & 0x8000ULL) << 48 | 0x7FF0ULL << 48 | (nan & 0x3FFULL) << 42;
        EXPECT_EQ(roundedBits(inF64, Dtype::F16), nan);
    }
}

TEST(Rounding, IsKnownForRoundedFormsAlone)
{
    EXPECT_EQ(commonDtype(Dtype::F32, Dtype::BF16), Dtype::BF16);
    EXPECT_EQ(commonDtype(Dtype::F16, Dtype::F32), Dtype::F16);
    EXPECT_EQ(commonDtype(Dtype::F64, Dtype::F32), Dtype::F32);
    EXPECT_EQ(commonDtype(Dtype::BF16, Dtype::F64), Dtype::BF16);
    EXPECT_EQ(commonDtype(Dtype::F64, Dtype::F16), Dtype::F16);
    EXPECT_EQ(commonDtype(Dtype::F64, Dtype::I64), std::nullopt);
    EXPECT_EQ(commonDtype(Dtype::I8, Dtype::I8), Dtype::I8);
    EXPECT_EQ(commonDtype(Dtype::BF16, Dtype::F16), std::nullopt);
    EXPECT_EQ(commonDtype(Dtype::F32, Dtype::I32), std::nullopt);
}

}
} // namespace deltascope
