#include "diff_fixture.h"

#include <bit>
#include <cmath>
#include <limits>

// diffStates: how far values are apart.

namespace deltascope {
namespace {

using namespace diff_test;

TEST(DiffNorm, IsOfTheDifferenceOverThatOfA)
{
    const TensorDiff diff = diffOfValues<float>(Dtype::F32, { 3.0F, 4.0F, 0.0F }, { 3.0F, 4.0F, 2.5F });
    EXPECT_EQ(diff.relativeNorm, 0.5);
}

TEST(DiffNorm, OfARunCountsEqualTensorsToo)
{
    const TensorInfo three = tensor("a", { 1 }, Dtype::F32);
    const TensorInfo four = tensor("b", { 1 }, Dtype::F32);
    const auto bytes = [](float value) { return packed(std::vector<float> { value }); };
    const DiffReport report =
        diffOf({ { three, bytes(3) }, { four, bytes(4) } }, { { three, bytes(3) }, { four, bytes(3) } });
    EXPECT_EQ(report.relativeNorm, 0.2);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors.front().relativeNorm, 0.25);
    const DiffReport same = diffOf({ { three, bytes(3) } }, { { three, bytes(3) } });
    EXPECT_EQ(same.relativeNorm, 0.0);
}

TEST(DiffNorm, LeavesOutWhatIsNotFinite)
{
    constexpr float Nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const TensorDiff diff = diffOfValues<float>(Dtype::F32, { 3.0F, Nan, Infinity, 4.0F }, { 4.0F, 1.0F, 1.0F, Nan });
    EXPECT_EQ(diff.relativeNorm, 0.2);
}

/// A norm of 0 would say that nothing moved.
TEST(DiffNorm, IsUnknownWhereNothingThatDiffersIsFinite)
{
    constexpr float Nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const TensorDiff diff =
        diffOfValues<float>(Dtype::F32, { 3.0F, 4.0F, 5.0F, Infinity }, { 3.0F, Nan, Infinity, 1.0F });
    EXPECT_EQ(diff.different, 3U);
    EXPECT_EQ(diff.notFinite, (NotFiniteCounts { 1, 2, 3 }));
    EXPECT_FALSE(diff.relativeNorm);
    const DiffReport report =
        diffOf({ { tensor("a", { 2 }, Dtype::F32), packed(std::vector<float> { 3, 4 }) },
                 { tensor("b", { 2 }, Dtype::F32), packed(std::vector<float> { 3, Infinity }) } },
               { { tensor("a", { 2 }, Dtype::F32), packed(std::vector<float> { 3, Nan }) },
                 { tensor("b", { 2 }, Dtype::F32), packed(std::vector<float> { 3, Infinity }) } });
    EXPECT_EQ(report.notFinite, (NotFiniteCounts { 1, 2, 1 }));
    EXPECT_FALSE(report.relativeNorm);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors[0].notFinite, (NotFiniteCounts { 0, 1, 1 }));
}

/// Infinities that stay, as in a mask, leave a norm, and integers have none.
TEST(DiffNorm, CountsWhatIsNotFiniteOnBothSides)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const TensorDiff diff = diffOfValues<float>(Dtype::F32, { 4.0F, -Infinity }, { 5.0F, -Infinity });
    EXPECT_EQ(diff.notFinite, (NotFiniteCounts { 1, 1, 0 }));
    EXPECT_EQ(diff.relativeNorm, 0.25);
    EXPECT_EQ(diffOfValues<std::uint16_t>(Dtype::U16, { 0x7fc0, 1 }, { 0x7f80, 1 }).notFinite, NotFiniteCounts());
}

/// Exponents have one pattern that is no number.
TEST(DiffNorm, CountsNanOfWhatHasNoDistances)
{
    const TensorDiff diff = diffOfValues<std::uint8_t>(Dtype::F8E8M0, { 0xff, 1, 0xff, 3 }, { 0xff, 2, 4, 3 });
    EXPECT_EQ(diff.different, 2U);
    EXPECT_EQ(diff.notFinite.a, 2U);
    EXPECT_EQ(diff.notFinite.b, 1U);
    EXPECT_FALSE(diff.relativeNorm);
}

TEST(DiffNorm, IsUnknownWithoutNumbersInA)
{
    EXPECT_FALSE(diffOfValues<float>(Dtype::F32, { 0.0F }, { 1.0F }).relativeNorm);
    EXPECT_FALSE(diffOfValues<std::uint64_t>(Dtype::C64, { 1 }, { 2 }).relativeNorm);
    EXPECT_FALSE(diffOfValues<double>(Dtype::F64, { 1e300 }, { 2e300 }).relativeNorm); // its square is no double
}

TEST(DiffNorm, IsUnknownWhereThatOfAIsTooLarge)
{
    EXPECT_FALSE(diffOfValues<double>(Dtype::F64, { 1e300, 1 }, { 1e300, 2 }).relativeNorm);
    EXPECT_DOUBLE_EQ(diffOfValues<double>(Dtype::F64, { 1e150, 1 }, { 1e150, 2 }).relativeNorm.value_or(0), 1e-150);
}

TEST(DiffNorm, OfIntegersIsOfTheirNumbers)
{
    EXPECT_EQ(diffOfValues<std::int8_t>(Dtype::I8, { 3, -4 }, { 3, 1 }).relativeNorm, 1.0);
    EXPECT_EQ(diffOfValues<std::int64_t>(Dtype::I64, { 3, -4 }, { 3, 1 }).relativeNorm, 1.0);
}

TEST(DiffNorm, OfSeveralBlocksIsThatOfTheWhole)
{
    std::vector<std::uint16_t> a(3 * 64 * 1024 + 5);
    std::uint32_t state = 1;
    for (std::uint16_t& bits : a) {
        state = state * 1664525 + 1013904223;
        bits = static_cast<std::uint16_t>((state >> 16 & 0x80ff) | 0x3f00); // 0.5 to 2 and their negatives
    }
    std::vector<std::uint16_t> b = a;
    for (std::size_t at = 0; at < b.size(); at += 97)
        b[at] ^= 1;
    long double squares = 0;
    long double moved = 0;
    for (std::size_t at = 0; at < a.size(); ++at) {
        const auto x = static_cast<long double>(std::bit_cast<float>(std::uint32_t(a[at]) << 16));
        const auto y = static_cast<long double>(std::bit_cast<float>(std::uint32_t(b[at]) << 16));
        squares += x * x;
        moved += (y - x) * (y - x);
    }
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, a, b);
    ASSERT_TRUE(diff.relativeNorm);
    EXPECT_NEAR(*diff.relativeNorm, static_cast<double>(std::sqrt(moved / squares)), 1e-15);
}

/// Values that no sum of squares holds exactly, so that another order of additions shows.
std::vector<float> manyValues(std::size_t count, bool moved)
{
    std::uint32_t state = 1;
    std::vector<float> values(count);
    for (std::size_t at = 0; at < count; ++at) {
        state = state * 1664525 + 1013904223;
        const std::uint32_t bits = (state & 0x807f'0000) | ((120 + (state >> 8) % 9) << 23);
        values[at] = std::bit_cast<float>(moved && at % 97 == 0 ? bits ^ 0x10000 : bits); // a value of BF16
    }
    return values;
}

TEST(DiffNorm, IsTheSameHoweverTheStatesAreRead)
{
    const std::size_t count = 3 * 64 * 1024 + 5;
    const auto wide = [&](bool moved) {
        return std::vector<FileTensor> { { tensor("w", { count }, Dtype::F32), packed(manyValues(count, moved)) } };
    };
    const auto narrow = [&](bool moved) {
        std::vector<std::uint16_t> bits;
        for (const float value : manyValues(count, moved))
            bits.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
        return std::vector<FileTensor> { { tensor("w", { count }, Dtype::BF16), packed(bits) } };
    };
    TaskContext task;
    const auto normOf = [&](const std::vector<FileTensor>& a, const std::vector<FileTensor>& b) {
        const auto report = diffStates(bench(), stateOf(a), stateOf(b), {}, task, { TensorGlobs(), true, {} });
        EXPECT_TRUE(report) << report.error().text;
        return report ? report->relativeNorm : std::nullopt;
    };
    const std::optional<double> norm = normOf(narrow(false), narrow(true));
    ASSERT_TRUE(norm);
    EXPECT_EQ(normOf(wide(false), wide(true)), norm);
    EXPECT_EQ(normOf(wide(false), narrow(true)), norm); // in blocks half as long
    EXPECT_EQ(normOf(narrow(false), wide(true)), norm);
}

TEST(BackendOfTheWorkbench, IsTheOneThatCompares)
{
    const std::size_t count = 40000;
    const TensorInfo info = tensor("w", { count }, Dtype::F32);
    const FileState a = stateOf(info, packed(manyValues(count, false)));
    const FileState b = stateOf(info, packed(manyValues(count, true)));
    TaskContext task;
    Workbench forced = bench();
    std::optional<TensorDiff> first;
    for (const auto& backend : forced.backends.all()) {
        forced.forcedBackend = std::string(backend->name());
        const auto report = diffStates(forced, a, b, {}, task);
        if (!backend->isSupportedHere()) {
            EXPECT_EQ(errorOf(report).code, Code::Unsupported);
            continue;
        }
        ASSERT_TRUE(report) << report.error().text;
        ASSERT_EQ(report->tensors.size(), 1U);
        const TensorDiff& diff = report->tensors.front();
        if (!first)
            first = diff;
        EXPECT_EQ(diff.different, first->different) << backend->name();
        EXPECT_EQ(diff.maxAbs, first->maxAbs) << backend->name();
        EXPECT_EQ(diff.maxUlp, first->maxUlp) << backend->name();
        EXPECT_EQ(diff.relativeNorm, first->relativeNorm) << backend->name();
    }
    forced.forcedBackend = "abacus";
    EXPECT_EQ(errorOf(diffStates(forced, a, b, {}, task)).code, Code::Usage);
}

TEST(DiffFloats, TheLargestDistanceIsGiven)
{
    const TensorDiff diff = diffOfValues<float>(Dtype::F32, { 1.0F, 2.0F, 3.0F }, { 1.5F, 2.0F, -1.0F });
    EXPECT_EQ(diff.different, 2U);
    EXPECT_EQ(diff.maxAbs, 4.0);
    EXPECT_EQ(diff.signFlips, 1U);
}

TEST(DiffFloats, NeighborsAreOneUlpApart)
{
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0x3f80, 0x4080 }, { 0x3f81, 0x4080 });
    EXPECT_EQ(diff.maxUlp, 1U);
    EXPECT_EQ(diff.maxAbs, 0x1p-7);
}

TEST(DiffFloats, UlpsGoOnAcrossAPowerOfTwo)
{
    EXPECT_EQ(diffOfValues<std::uint16_t>(Dtype::BF16, { 0x3fff }, { 0x4000 }).maxUlp, 1U);
}

TEST(DiffFloats, UlpsGoOnAcrossZero)
{
    // -1 ulp, -0, +0, +1 ulp
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0x8001 }, { 0x0001 });
    EXPECT_EQ(diff.maxUlp, 3U);
    EXPECT_EQ(diff.signFlips, 1U);
}

TEST(DiffFloats, TheTwoZerosDifferInBitsAndInNothingElse)
{
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0x0000, 0x8000 }, { 0x8000, 0x0000 });
    EXPECT_EQ(diff.different, 2U);
    EXPECT_EQ(diff.maxAbs, 0.0);
    EXPECT_EQ(diff.maxUlp, 1U);
    EXPECT_EQ(diff.signFlips, 2U);
}

TEST(DiffFloats, NansCountInNoMaximum)
{
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0x7fc0, 0x3f80, 0x7fc1, 0x3f80 },
                                                        { 0x3f80, 0xffc0, 0x7fc2, 0x3f81 });
    EXPECT_EQ(diff.different, 4U);
    EXPECT_EQ(diff.nanInvolved, 3U);
    EXPECT_EQ(diff.maxUlp, 1U);
    EXPECT_EQ(diff.maxAbs, 0x1p-7);
    EXPECT_EQ(diff.signFlips, 0U);
}

TEST(DiffFloats, EqualNansDoNotDiffer)
{
    EXPECT_EQ(diffOfValues<std::uint16_t>(Dtype::BF16, { 0x7fc1 }, { 0x7fc1 }).different, 0U);
}

TEST(DiffFloats, AnInfinityHasNoDistanceButUlps)
{
    const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0x7f7f, 0x3f80 }, { 0x7f80, 0x3f82 });
    EXPECT_EQ(diff.different, 2U);
    EXPECT_EQ(diff.maxAbs, 0x1p-6);
    EXPECT_EQ(diff.maxUlp, 2U);
    EXPECT_EQ(diff.nanInvolved, 0U);
}

TEST(DiffFloats, TheSmallestSubnormalsHaveTheirValue)
{
    EXPECT_EQ(diffOfValues<std::uint16_t>(Dtype::F16, { 0x0000 }, { 0x0001 }).maxAbs, 0x1p-24);
    EXPECT_EQ(diffOfValues<std::uint16_t>(Dtype::BF16, { 0x0000 }, { 0x0001 }).maxAbs, 0x1p-133);
    EXPECT_EQ(diffOfValues<double>(Dtype::F64, { 0.0 }, { std::numeric_limits<double>::denorm_min() }).maxAbs,
              std::numeric_limits<double>::denorm_min());
}

TEST(DiffFloats, EveryPatternOfBf16HasTheValueOfTheFloatItIsCutFrom)
{
    for (std::uint32_t bits = 1; bits < 0x7f80; bits += 7) {
        const auto value = static_cast<double>(std::bit_cast<float>(bits << 16));
        const TensorDiff diff = diffOfValues<std::uint16_t>(Dtype::BF16, { 0 }, { static_cast<std::uint16_t>(bits) });
        ASSERT_EQ(diff.maxAbs, value) << bits;
        ASSERT_EQ(diff.maxUlp, bits) << bits;
    }
}

TEST(DiffFloats, DoublesKeepTheirUlps)
{
    const TensorDiff diff = diffOfValues<double>(Dtype::F64, { 1.0, 5.0 }, { std::nextafter(1.0, 2.0), 5.0 });
    EXPECT_EQ(diff.maxUlp, 1U);
    EXPECT_EQ(diff.maxAbs, std::numeric_limits<double>::epsilon());
}

TEST(DiffFp8, TheFourBitMantissaTypeHasNoInfinity)
{
    // E4M3: 0x7e is 448, 0x7f the only NaN
    const TensorDiff diff = diffOfValues<std::uint8_t>(Dtype::F8E4M3, { 0x00, 0x7f }, { 0x7e, 0x01 });
    EXPECT_EQ(diff.maxAbs, 448.0);
    EXPECT_EQ(diff.nanInvolved, 1U);
}

TEST(DiffFp8, TheFiveBitExponentTypeHasOne)
{
    // E5M2: 0x7b is 57344, 0x7c infinity, 0x7d NaN
    const TensorDiff diff = diffOfValues<std::uint8_t>(Dtype::F8E5M2, { 0x00, 0x00, 0x7d }, { 0x7b, 0x7c, 0x01 });
    EXPECT_EQ(diff.maxAbs, 57344.0);
    EXPECT_EQ(diff.nanInvolved, 1U);
    EXPECT_EQ(diff.maxUlp, 0x7cU);
}

TEST(DiffFp8, TheFnuzTypesHaveTheirOnlyNanAtMinusZero)
{
    // E4M3FNUZ: bias 8, 0x7f is 240; E5M2FNUZ: bias 16, 0x7f is 57344
    const TensorDiff four = diffOfValues<std::uint8_t>(Dtype::F8E4M3Fnuz, { 0x00, 0x80 }, { 0x7f, 0x00 });
    EXPECT_EQ(four.maxAbs, 240.0);
    EXPECT_EQ(four.nanInvolved, 1U);
    const TensorDiff five = diffOfValues<std::uint8_t>(Dtype::F8E5M2Fnuz, { 0x00, 0x80 }, { 0x7f, 0x00 });
    EXPECT_EQ(five.maxAbs, 57344.0);
    EXPECT_EQ(five.nanInvolved, 1U);
}

TEST(DiffIntegers, HaveDistancesAndNoUlps)
{
    const TensorDiff diff = diffOfValues<std::int32_t>(Dtype::I32, { 5, -7, 3 }, { 5, 8, 1 });
    EXPECT_EQ(diff.different, 2U);
    EXPECT_EQ(diff.maxAbs, 15.0);
    EXPECT_EQ(diff.maxUlp, 0U);
    EXPECT_EQ(diff.signFlips, 1U);
}

TEST(DiffIntegers, UnsignedOnesDoNotWrap)
{
    EXPECT_EQ(diffOfValues<std::uint8_t>(Dtype::U8, { 1 }, { 255 }).maxAbs, 254.0);
    EXPECT_EQ(diffOfValues<std::uint32_t>(Dtype::U32, { 0 }, { 0xffffffff }).maxAbs, 4294967295.0);
}

TEST(DiffIntegers, LargeOnesKeepSmallDistances)
{
    constexpr std::int64_t Large = (std::int64_t(1) << 60) + 1;
    EXPECT_EQ(diffOfValues<std::int64_t>(Dtype::I64, { Large }, { Large + 1 }).maxAbs, 1.0);
    EXPECT_EQ(diffOfValues<std::uint64_t>(Dtype::U64, { ~0ULL }, { ~0ULL - 2 }).maxAbs, 2.0);
}

TEST(DiffIntegers, TheWholeRangeIsADistance)
{
    EXPECT_EQ(diffOfValues<std::int64_t>(Dtype::I64, { std::numeric_limits<std::int64_t>::min() },
                                         { std::numeric_limits<std::int64_t>::max() })
                  .maxAbs,
              0x1p64);
}

TEST(DiffIntegers, BooleansDiffer)
{
    EXPECT_EQ(diffOfValues<std::uint8_t>(Dtype::Bool, { 0, 1, 1 }, { 1, 1, 0 }).different, 2U);
}

TEST(DiffPacked, ElementsThatAreNoBytesAreCounted)
{
    // two of four bits a byte: the low one differs in byte 0, both in byte 1
    EXPECT_EQ(diffOfValues<std::uint8_t>(Dtype::F4, { 0x00, 0x00 }, { 0x01, 0x11 }).different, 3U);
    // six bits: one bit of the second of four
    EXPECT_EQ(diffOfValues<std::uint8_t>(Dtype::F6E2M3, { 0, 0, 0 }, { 0x40, 0, 0 }).different, 1U);
}

TEST(DiffComplex, CountsNumbersNotParts)
{
    EXPECT_EQ(diffOfValues<float>(Dtype::C64, { 1, 2, 3, 4 }, { 9, 9, 3, 4 }).different, 1U);
}

TEST(Diff, SwappingTheSidesKeepsTheNumbers)
{
    const std::vector<std::uint16_t> a = { 0x3f80, 0x8001, 0x7fc0, 0x4000, 0x0000 };
    const std::vector<std::uint16_t> b = { 0xbf80, 0x0101, 0x3f80, 0x4001, 0x8000 };
    const TensorDiff there = diffOfValues(Dtype::BF16, a, b);
    const TensorDiff back = diffOfValues(Dtype::BF16, b, a);
    EXPECT_EQ(there.different, back.different);
    EXPECT_EQ(there.maxAbs, back.maxAbs);
    EXPECT_EQ(there.maxUlp, back.maxUlp);
    EXPECT_EQ(there.signFlips, back.signFlips);
    EXPECT_EQ(there.nanInvolved, back.nanInvolved);
}

} // namespace
} // namespace deltascope
