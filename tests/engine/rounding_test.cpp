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

std::uint16_t roundedBits(float value, Dtype to)
{
    std::array<std::byte, 4> wide {};
    std::array<std::byte, 2> narrow {};
    std::memcpy(wide.data(), &value, 4);
    roundElements(wide, Dtype::F32, to, narrow);
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

TEST(Rounding, IsKnownForRoundedFormsAlone)
{
    EXPECT_EQ(commonDtype(Dtype::F32, Dtype::BF16), Dtype::BF16);
    EXPECT_EQ(commonDtype(Dtype::F16, Dtype::F32), Dtype::F16);
    EXPECT_EQ(commonDtype(Dtype::I8, Dtype::I8), Dtype::I8);
    EXPECT_EQ(commonDtype(Dtype::BF16, Dtype::F16), std::nullopt);
    EXPECT_EQ(commonDtype(Dtype::F32, Dtype::I32), std::nullopt);
}

}
} // namespace deltascope
