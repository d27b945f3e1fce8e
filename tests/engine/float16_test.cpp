#include "base/float16.h"

#include "support/backends.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace deltascope {
namespace {

/// The pattern whose value is nearest, by looking at all of them; ties go to the even one.
template <class ToFloat> std::uint16_t nearest(float value, ToFloat toFloat)
{
    std::uint16_t best = 0;
    double bestGap = HUGE_VAL;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float other = toFloat(static_cast<std::uint16_t>(bits));
        if (!std::isfinite(other) || std::signbit(other) != std::signbit(value))
            continue;
        const double gap = std::abs(static_cast<double>(other) - static_cast<double>(value));
        if (gap < bestGap || (gap == bestGap && (bits & 1U) == 0)) {
            best = static_cast<std::uint16_t>(bits);
            bestGap = gap;
        }
    }
    return best;
}

TEST(Float16, EveryPatternComesBack)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        if (std::isnan(bf16ToFloat(pattern)))
            EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(bf16ToFloat(pattern)))));
        else
            EXPECT_EQ(floatToBf16(bf16ToFloat(pattern)), pattern);
        if (std::isnan(f16ToFloat(pattern)))
            EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(f16ToFloat(pattern)))));
        else
            EXPECT_EQ(floatToF16(f16ToFloat(pattern)), pattern);
    }
}

TEST(Float16, RoundsToTheNearestPattern)
{
    for (const float value : { 1.00390625F, 1.001F, -3.14159F, 0.1F, 65503.0F, 6e-8F, 2.9e-8F, 3.1e-5F, -6.1e-5F, 1e-3F,
                               0.333251953125F, 2049.0F, 2051.0F, 0.0F, -0.0F }) {
        EXPECT_EQ(floatToF16(value), nearest(value, f16ToFloat)) << value;
        EXPECT_EQ(floatToBf16(value), nearest(value, bf16ToFloat)) << value;
    }
    EXPECT_EQ(floatToF16(65519.0F), 0x7bff); // below halfway to the next power of two
    EXPECT_EQ(floatToF16(65520.0F), 0x7c00);
    EXPECT_EQ(floatToF16(-1e30F), 0xfc00);
    EXPECT_EQ(floatToBf16(3.4e38F), 0x7f80);
}

TEST(AddElements, AddsInFloatAndRounds)
{
    // 1.0 + 1/256 is halfway between two BF16 values: the even one wins
    std::array<std::uint16_t, 3> state { 0x3f80, 0x4000, 0x3f80 };
    const std::array<std::uint32_t, 2> elements { 0, 2 };
    const std::array<float, 2> values { 0.00390625F, 0.0078125F };
    const PatchCounts counts = test::applyPiece(AddElements { elements, std::as_bytes(std::span(values)) },
                                                std::as_writable_bytes(std::span(state)), Dtype::BF16);
    EXPECT_EQ(state, (std::array<std::uint16_t, 3> { 0x3f80, 0x4000, 0x3f81 }));
    EXPECT_EQ(counts.assigned, 2U);
    EXPECT_EQ(counts.noops, 1U);
    EXPECT_EQ(counts.changed, 1U);
}

} // namespace
} // namespace deltascope
