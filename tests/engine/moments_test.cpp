#include "number_blocks.h"
#include "support/device.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

// Backend::moments(): every backend gives the bits of the scalar one, and that one what the plain meaning gives.

namespace deltascope {

/// For messages of failed tests.
static void PrintTo(const DiffMoments& moments, std::ostream* out)
{
    *out << moments.notFinite << " not finite, squares " << std::hexfloat << moments.squares << std::defaultfloat
         << ", " << moments.different << " different, " << moments.notFiniteChanged.a << " and "
         << moments.notFiniteChanged.b << " of them not finite, " << moments.notFiniteChanged.different << " either, "
         << moments.nanInvolved << " NaN, " << moments.signFlips << " flips, " << moments.maxUlp << " ulp, "
         << moments.maxAbs << ", moved " << std::hexfloat << moments.movedSquares << std::defaultfloat;
}

namespace {

using namespace test;

double halvesOf(std::vector<double> sums)
{
    while (sums.size() > 1) {
        const std::size_t half = sums.size() / 2;
        for (std::size_t i = 0; i < half; ++i)
            sums[i] = sums[i] + sums[half + i];
        sums.resize(half);
    }
    return sums.front();
}

/// Sums of squares in the order that moments() promises.
class Sums {
public:
    void add(std::size_t element, double value)
    {
        const volatile double square = value * value; // rounded
        m_sums[element % m_sums.size()] = m_sums[element % m_sums.size()] + square;
    }
    double value() const { return halvesOf(m_sums); }

private:
    std::vector<double> m_sums = std::vector<double>(32);
};

DiffMoments plainOfFloats(ByteSpan before, ByteSpan after, const Fields& fields)
{
    const auto width = static_cast<std::size_t>(1 + fields.exponentBits + fields.fractionBits) / 8;
    DiffMoments out;
    Sums squares;
    Sums moved;
    for (std::size_t i = 0; i < before.size() / width; ++i) {
        const Element x = floatOf(fields, bitsAt(before, i, width));
        const Element y = floatOf(fields, bitsAt(after, i, width));
        if (std::isfinite(x.value))
            squares.add(i, x.value);
        else
            ++out.notFinite;
        if (x.negative == y.negative && x.magnitude == y.magnitude)
            continue;
        ++out.different;
        out.notFiniteChanged += { !std::isfinite(x.value) ? 1U : 0U, !std::isfinite(y.value) ? 1U : 0U,
                                  std::isfinite(x.value) && std::isfinite(y.value) ? 0U : 1U };
        if (std::isnan(x.value) || std::isnan(y.value)) {
            ++out.nanInvolved;
            continue;
        }
        out.signFlips += x.negative != y.negative ? 1 : 0;
        const std::uint64_t apart = x.negative != y.negative ? x.magnitude + y.magnitude + 1
            : x.magnitude > y.magnitude                      ? x.magnitude - y.magnitude
                                                             : y.magnitude - x.magnitude;
        out.maxUlp = std::max(out.maxUlp, apart);
        if (!std::isfinite(x.value) || !std::isfinite(y.value))
            continue;
        const double gap = std::fabs(x.value - y.value); // infinite where F64 has no such number
        out.maxAbs = std::max(out.maxAbs, gap);
        moved.add(i, gap);
    }
    out.squares = squares.value();
    out.movedSquares = moved.value();
    return out;
}

DiffMoments plainOfIntegers(ByteSpan before, ByteSpan after, std::size_t width, bool isSigned)
{
    const auto extended = [&](std::uint64_t bits) {
        const unsigned unused = 64 - 8 * static_cast<unsigned>(width);
        return static_cast<std::int64_t>(bits << unused) >> unused;
    };
    DiffMoments out;
    Sums squares;
    Sums moved;
    for (std::size_t i = 0; i < before.size() / width; ++i) {
        const std::uint64_t x = bitsAt(before, i, width);
        const std::uint64_t y = bitsAt(after, i, width);
        squares.add(i, isSigned ? static_cast<double>(extended(x)) : static_cast<double>(x));
        if (x == y)
            continue;
        ++out.different;
        const bool less = isSigned ? extended(x) < extended(y) : x < y;
        const std::uint64_t low = static_cast<std::uint64_t>(isSigned ? extended(less ? x : y) : 0);
        const std::uint64_t high = static_cast<std::uint64_t>(isSigned ? extended(less ? y : x) : 0);
        const auto gap = static_cast<double>(isSigned ? high - low : less ? y - x : x - y);
        out.signFlips += isSigned && (extended(x) < 0) != (extended(y) < 0) ? 1 : 0;
        out.maxAbs = std::max(out.maxAbs, gap);
        moved.add(i, gap);
    }
    out.squares = squares.value();
    out.movedSquares = moved.value();
    return out;
}

DiffMoments plain(ByteSpan before, ByteSpan after, Dtype dtype)
{
    if (const std::optional<Fields> fields = fieldsOf(dtype))
        return plainOfFloats(before, after, *fields);
    return plainOfIntegers(before, after, bitsOf(dtype) / 8, isSigned(dtype));
}

void expectPlain(const Backend& backend, const Blocks& blocks, Dtype dtype)
{
    ASSERT_EQ(backend.moments(blocks.before, blocks.after, dtype), plain(blocks.before, blocks.after, dtype))
        << backend.name() << ' ' << word(dtype) << ", " << blocks.before.size() << " bytes";
}

/// Every backend that was built; those that this machine cannot run are skipped, and say so.
class DiffMomentsConformance : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        const Result<std::shared_ptr<const Backend>> chosen = test::allBackends().choose(GetParam());
        if (!chosen)
            GTEST_SKIP() << chosen.error().text;
        backend = *chosen;
    }

    std::shared_ptr<const Backend> backend;
};

std::vector<std::string> backendNames()
{
    const Backends backends = test::allBackends();
    std::vector<std::string> names;
    for (const auto& built : backends.all())
        names.emplace_back(built->name());
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, DiffMomentsConformance, testing::ValuesIn(backendNames()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

TEST_P(DiffMomentsConformance, BlocksOfEveryLengthAndMix)
{
    std::mt19937_64 random(1);
    for (const Dtype dtype : Numbers)
        for (const std::size_t elements : { 0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 1000, 4099 })
            for (const Mix mix : { Mix { 0, 0 }, { 0, 0.01 }, { 0.001, 0.1 }, { 0.1, 0.5 }, { 1, 1 } })
                expectPlain(*backend, blocksOf(dtype, elements, 0, 0, mix, random), dtype);
}

TEST_P(DiffMomentsConformance, WholeBlocks)
{
    std::mt19937_64 random(2);
    for (const Dtype dtype : Numbers)
        expectPlain(*backend, blocksOf(dtype, Backend::MomentElements, 0, 0, { 0.0001, 0.02 }, random), dtype);
}

TEST_P(DiffMomentsConformance, StartsNeedNotBeAligned)
{
    std::mt19937_64 random(3);
    for (const Dtype dtype : Numbers)
        for (const auto& [before, after] : { std::pair(1, 0), { 0, 1 }, { 3, 5 }, { 7, 7 }, { 63, 33 } })
            expectPlain(*backend,
                        blocksOf(dtype, 333, static_cast<std::size_t>(before), static_cast<std::size_t>(after),
                                 { 0.05, 0.3 }, random),
                        dtype);
}

TEST_P(DiffMomentsConformance, EveryPatternAgainstSpecialOnes)
{
    for (const Dtype dtype : Numbers) {
        const std::size_t width = bitsOf(dtype) / 8;
        if (width > 2)
            continue;
        const std::size_t count = std::size_t { 1 } << (8 * width);
        const std::size_t elements = std::min(count, Backend::MomentElements);
        const std::vector<std::uint64_t> patterns = patternsOf(dtype);
        for (std::size_t first = 0; first < count; first += elements) {
            const Blocks blocks(elements * width, 0, 0);
            for (std::size_t i = 0; i < elements; ++i) {
                storeAt(blocks.before, i, width, first + i);
                storeAt(blocks.after, i, width, patterns[i * 7 % patterns.size()]);
            }
            expectPlain(*backend, blocks, dtype);
            std::swap_ranges(blocks.before.begin(), blocks.before.end(), blocks.after.begin());
            expectPlain(*backend, blocks, dtype);
        }
    }
}

TEST_P(DiffMomentsConformance, EachSpecialPatternAgainstEachOther)
{
    for (const Dtype dtype : Numbers) {
        const std::size_t width = bitsOf(dtype) / 8;
        const std::vector<std::uint64_t> patterns = patternsOf(dtype);
        for (const std::uint64_t pattern : patterns) {
            const Blocks blocks(patterns.size() * width, 0, 0);
            for (std::size_t i = 0; i < patterns.size(); ++i) {
                storeAt(blocks.before, i, width, pattern);
                storeAt(blocks.after, i, width, patterns[i]);
            }
            expectPlain(*backend, blocks, dtype);
        }
    }
}

TEST(DiffMoments, AreWhatAReaderOfTwoBlocksSees)
{
    const std::vector<float> before = {
        1, -2, 0.0F, 3, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()
    };
    const std::vector<float> after = { 1, 2, -0.0F, 3.5F, 1, 5 };
    const Backends backends = test::allBackends();
    for (const auto& backend : backends.all()) {
        if (!backend->isSupportedHere())
            continue;
        const DiffMoments seen =
            backend->moments(std::as_bytes(std::span(before)), std::as_bytes(std::span(after)), Dtype::F32);
        EXPECT_EQ(seen.notFinite, 2U);
        EXPECT_EQ(seen.squares, 14);
        EXPECT_EQ(seen.different, 5U);
        EXPECT_EQ(seen.notFiniteChanged, (NotFiniteCounts { 2, 0, 2 }));
        EXPECT_EQ(seen.nanInvolved, 1U);
        EXPECT_EQ(seen.signFlips, 2U); // 2, and the sign of zero
        EXPECT_EQ(seen.maxAbs, 4);
        EXPECT_EQ(seen.movedSquares, 16.25);
        EXPECT_EQ(seen.maxUlp, 2U * std::bit_cast<std::uint32_t>(2.0F) + 1);
    }
}

TEST(DiffMoments, AreMeasuredOfNumbersAlone)
{
    for (const Dtype dtype : Numbers)
        EXPECT_TRUE(isNumber(dtype)) << word(dtype);
    for (const Dtype dtype : { Dtype::F4, Dtype::F6E2M3, Dtype::F6E3M2, Dtype::F8E8M0, Dtype::C64 })
        EXPECT_FALSE(isNumber(dtype)) << word(dtype);
}

} // namespace
} // namespace deltascope
