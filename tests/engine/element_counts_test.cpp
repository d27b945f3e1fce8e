#include "backend/gather.h"
#include "backend/value_kinds.h"
#include "backend/value_sums.h"
#include "number_blocks.h"
#include "support/device.h"

#include <gtest/gtest.h>
#include <ostream>
#include <string>

// What backends count of elements: steps, bit patterns and NaN, from each of them as from the plain meaning.

namespace deltascope {

/// For messages of failed tests.
static void PrintTo(const StepCounts& counts, std::ostream* out)
{
    for (std::size_t bin = 0; bin < StepCounts::Bins; ++bin) {
        if (counts.all[bin] > 0)
            *out << "bin " << bin << ": " << counts.all[bin] << ", " << counts.sameLowByte[bin] << " kept; ";
    }
}

namespace {

using namespace test;

/// The distance in steps of a type; 0 where there is none.
std::uint64_t stepsBetween(std::uint64_t x, std::uint64_t y, Dtype dtype)
{
    if (const std::optional<Fields> fields = fieldsOf(dtype)) {
        const Element a = floatOf(*fields, x);
        const Element b = floatOf(*fields, y);
        if (std::isnan(a.value) || std::isnan(b.value) || x == y)
            return 0;
        if (a.negative != b.negative)
            return a.magnitude + b.magnitude + 1;
        return std::max(a.magnitude, b.magnitude) - std::min(a.magnitude, b.magnitude);
    }
    if (!isSigned(dtype))
        return std::max(x, y) - std::min(x, y);
    const unsigned unused = 64 - bitsOf(dtype);
    const auto a = static_cast<std::int64_t>(x << unused) >> unused;
    const auto b = static_cast<std::int64_t>(y << unused) >> unused;
    return static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b));
}

StepCounts plainSteps(ByteSpan before, ByteSpan after, Dtype dtype)
{
    const std::size_t width = bitsOf(dtype) / 8;
    StepCounts counts;
    for (std::size_t i = 0; i < before.size() / width; ++i) {
        const std::uint64_t x = bitsAt(before, i, width);
        const std::uint64_t y = bitsAt(after, i, width);
        const std::uint64_t apart = stepsBetween(x, y, dtype);
        if (apart == 0)
            continue;
        std::size_t bin = 0;
        while (bin < 64 && (std::uint64_t { 1 } << bin) < apart)
            ++bin;
        ++counts.all[bin];
        counts.sameLowByte[bin] += width == 2 && x % 256 == y % 256 ? 1 : 0;
    }
    return counts;
}

std::uint64_t plainNan(ByteSpan elements, Dtype dtype)
{
    const std::size_t width = bitsOf(dtype) / 8;
    const std::optional<Fields> fields = fieldsOf(dtype);
    std::uint64_t nan = 0;
    for (std::size_t i = 0; fields && i < elements.size() / width; ++i)
        nan += std::isnan(floatOf(*fields, bitsAt(elements, i, width)).value) ? 1 : 0;
    return nan;
}

void expectPlain(const Backend& backend, const Blocks& blocks, Dtype dtype)
{
    const auto where = [&] {
        return std::string(backend.name()) + ' ' + std::string(word(dtype)) + ", "
            + std::to_string(blocks.before.size()) + " bytes";
    };
    StepCounts steps;
    backend.countSteps(blocks.before, blocks.after, dtype, steps);
    ASSERT_EQ(steps, plainSteps(blocks.before, blocks.after, dtype)) << where();
    ASSERT_EQ(backend.countNan(blocks.before, dtype), plainNan(blocks.before, dtype)) << where();
    const std::size_t width = bitsOf(dtype) / 8;
    if (width > 2)
        return;
    std::vector<std::uint64_t> patterns(std::size_t { 1 } << (8 * width));
    std::vector<std::uint64_t> wanted = patterns;
    backend.countPatterns(blocks.before, static_cast<unsigned>(width), patterns);
    for (std::size_t i = 0; i < blocks.before.size() / width; ++i)
        ++wanted[bitsAt(blocks.before, i, width)];
    ASSERT_TRUE(patterns == wanted) << where();
}

/// Every backend that was built; those that this machine cannot run are skipped, and say so.
class ElementCountsConformance : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        const Result<std::shared_ptr<const Backend>> chosen = allBackends().choose(GetParam());
        if (!chosen)
            GTEST_SKIP() << chosen.error().text;
        backend = *chosen;
    }

    std::shared_ptr<const Backend> backend;
};

std::vector<std::string> countingBackends()
{
    const Backends backends = allBackends();
    std::vector<std::string> names;
    for (const auto& built : backends.all())
        names.emplace_back(built->name());
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, ElementCountsConformance, testing::ValuesIn(countingBackends()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

TEST_P(ElementCountsConformance, BlocksOfEveryLengthAndMix)
{
    std::mt19937_64 random(1);
    for (const Dtype dtype : Numbers)
        for (const std::size_t elements : { 0, 1, 31, 63, 64, 65, 127, 129, 256, 1000, 2048, 2051, 4099 })
            for (const Mix mix : { Mix { 0, 0 }, { 0, 0.01 }, { 0.001, 0.1 }, { 0.1, 0.5 }, { 1, 1 } })
                expectPlain(*backend, blocksOf(dtype, elements, 0, 0, mix, random), dtype);
}

TEST_P(ElementCountsConformance, LongerThanABlockOfMoments)
{
    std::mt19937_64 random(2);
    for (const Dtype dtype : Numbers)
        expectPlain(*backend, blocksOf(dtype, 5 * Backend::MomentElements + 7, 0, 0, { 0.0001, 0.02 }, random), dtype);
}

TEST_P(ElementCountsConformance, StartsNeedNotBeAligned)
{
    std::mt19937_64 random(3);
    for (const Dtype dtype : Numbers)
        for (const auto& [before, after] : { std::pair(1, 0), { 0, 1 }, { 3, 5 }, { 7, 7 }, { 63, 33 } })
            expectPlain(*backend,
                        blocksOf(dtype, 333, static_cast<std::size_t>(before), static_cast<std::size_t>(after),
                                 { 0.05, 0.3 }, random),
                        dtype);
}

TEST_P(ElementCountsConformance, EveryPatternOfNarrowTypesAgainstSpecialOnes)
{
    for (const Dtype dtype : Numbers) {
        const std::size_t width = bitsOf(dtype) / 8;
        if (width > 2)
            continue;
        const std::size_t count = std::size_t { 1 } << (8 * width);
        const std::vector<std::uint64_t> patterns = patternsOf(dtype);
        const Blocks blocks(count * width, 0, 0);
        for (std::size_t i = 0; i < count; ++i) {
            storeAt(blocks.before, i, width, i);
            storeAt(blocks.after, i, width, patterns[i * 7 % patterns.size()]);
        }
        expectPlain(*backend, blocks, dtype);
        std::swap_ranges(blocks.before.begin(), blocks.before.end(), blocks.after.begin());
        expectPlain(*backend, blocks, dtype);
    }
}

TEST_P(ElementCountsConformance, EachSpecialPatternAgainstEachOther)
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

TEST_P(ElementCountsConformance, AreAddedToWhatWasCountedBefore)
{
    const std::vector<std::uint16_t> before = { 0x3f80, 0x3f80, 0x3f80, 0x7fc0 };
    const std::vector<std::uint16_t> after = { 0x3f81, 0x4080, 0x3f80, 0x3f80 };
    StepCounts steps;
    std::vector<std::uint64_t> patterns(65536);
    for (int round = 0; round < 2; ++round) {
        backend->countSteps(std::as_bytes(std::span(before)), std::as_bytes(std::span(after)), Dtype::BF16, steps);
        backend->countPatterns(std::as_bytes(std::span(before)), 2, patterns);
    }
    StepCounts wanted;
    wanted.all[0] = 2;
    wanted.all[8] = wanted.sameLowByte[8] = 2;
    EXPECT_EQ(steps, wanted);
    EXPECT_EQ(patterns[0x3f80], 6U);
    EXPECT_EQ(patterns[0x7fc0], 2U);
}

TEST_P(ElementCountsConformance, NanOfTypesThatAreNoNumbersWithASign)
{
    const std::vector<std::uint8_t> exponents = { 0xff, 0xfe, 0x7f, 0xff, 0 };
    EXPECT_EQ(backend->countNan(std::as_bytes(std::span(exponents)), Dtype::F8E8M0), 2U);
}

// What no backend has kernels of its own for.

/// The number that an element stands for; infinite or NaN where it is that.
double numberAt(ByteSpan elements, std::size_t i, Dtype dtype)
{
    const std::size_t width = bitsOf(dtype) / 8;
    const std::uint64_t bits = bitsAt(elements, i, width);
    if (const std::optional<Fields> fields = fieldsOf(dtype))
        return floatOf(*fields, bits).value;
    const unsigned unused = 64 - bitsOf(dtype);
    return isSigned(dtype) ? static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused)
                           : static_cast<double>(bits);
}

void expectPlainKinds(ByteSpan elements, Dtype dtype, ValueKinds& kinds)
{
    const std::size_t width = bitsOf(dtype) / 8;
    ValueKinds wanted = kinds;
    for (std::size_t i = 0; i < elements.size() / width; ++i) {
        const double number = numberAt(elements, i, dtype);
        wanted.nan += std::isnan(number) ? 1 : 0;
        wanted.infinite += std::isinf(number) ? 1 : 0;
        if (!std::isfinite(number))
            continue;
        const std::uint64_t bits = bitsAt(elements, i, width);
        wanted.finiteDiffer = wanted.finiteDiffer || (wanted.finite && bits != *wanted.finite);
        wanted.finite = bits;
    }
    countKinds(elements, dtype, kinds);
    EXPECT_EQ(kinds.nan, wanted.nan) << word(dtype);
    EXPECT_EQ(kinds.infinite, wanted.infinite) << word(dtype);
    EXPECT_EQ(kinds.finiteDiffer, wanted.finiteDiffer) << word(dtype);
    EXPECT_EQ(kinds.finite.has_value(), wanted.finite.has_value()) << word(dtype);
    if (!wanted.finiteDiffer) {
        EXPECT_EQ(kinds.finite, wanted.finite) << word(dtype);
    }
}

TEST(ValueKinds, AreThoseOfEachElement)
{
    std::mt19937_64 random(7);
    for (const Dtype dtype : Numbers) {
        for (const std::size_t elements : { 0, 1, 127, 128, 129, 1000 }) {
            for (const Mix mix : { Mix { 0, 0 }, { 0.01, 0.1 }, { 1, 1 } }) {
                ValueKinds kinds;
                for (int block = 0; block < 3; ++block)
                    expectPlainKinds(blocksOf(dtype, elements, 1, 0, mix, random).before, dtype, kinds);
            }
        }
        for (const std::uint64_t pattern : patternsOf(dtype)) { // one value alone, over two blocks
            const std::size_t width = bitsOf(dtype) / 8;
            const Blocks block(300 * width, 0, 0);
            for (std::size_t i = 0; i < 300; ++i)
                storeAt(block.before, i, width, pattern);
            ValueKinds kinds;
            expectPlainKinds(block.before, dtype, kinds);
            expectPlainKinds(block.before, dtype, kinds);
        }
    }
}

TEST(ValueKinds, NotFiniteIsAComplexElementWithOnePartThatIsNot)
{
    const std::vector<std::uint32_t> parts = {
        0x7fc00000, 0, 0, 0xffffffff, 0x7f800000, 0, 1, 2, 0x7fc00000, 0x7fc00000
    };
    EXPECT_EQ(countNotFiniteComplex(std::as_bytes(std::span(parts))), 4U);
}

TEST(ValueSums, AreThoseOfFiniteElements)
{
    std::mt19937_64 random(8);
    for (const Dtype dtype : { Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F8E4M3Fnuz, Dtype::I16, Dtype::U8 }) {
        const Blocks block = blocksOf(dtype, 1000, 3, 0, { 0.1, 0.5 }, random);
        ValueSums wanted;
        for (std::size_t i = 0; i < 1000; ++i) {
            const double number = numberAt(block.before, i, dtype);
            if (!std::isfinite(number))
                continue;
            ++wanted.finite;
            wanted.sum += number;
            wanted.squares += number * number;
        }
        const ValueSums sums = sumValues(block.before, dtype);
        EXPECT_EQ(sums.finite, wanted.finite) << word(dtype);
        EXPECT_DOUBLE_EQ(sums.sum, wanted.sum) << word(dtype);
        EXPECT_DOUBLE_EQ(sums.squares, wanted.squares) << word(dtype);
    }
    EXPECT_EQ(ValueSums {}.deviation(), 0);
    EXPECT_DOUBLE_EQ((ValueSums { 4, 8, 20 }).deviation(), 1); // 1, 1, 3, 3
}

TEST(Gather, CopiesTheBitsOfTheElementsAsked)
{
    std::mt19937_64 random(9);
    const std::vector<std::uint32_t> elements = { 0, 3, 4, 77, 199 };
    for (const Dtype dtype : { Dtype::U8, Dtype::BF16, Dtype::F32, Dtype::F64 }) {
        const std::size_t width = bitsOf(dtype) / 8;
        const Blocks block = blocksOf(dtype, 200, 1, 0, { 0.5, 0.5 }, random);
        std::vector<std::byte> out(3);
        gather(block.before, elements, static_cast<unsigned>(width), out);
        ASSERT_EQ(out.size(), elements.size() * width);
        for (std::size_t i = 0; i < elements.size(); ++i)
            EXPECT_EQ(bitsAt(out, i, width), bitsAt(block.before, elements[i], width)) << word(dtype);
    }
}

} // namespace
} // namespace deltascope
