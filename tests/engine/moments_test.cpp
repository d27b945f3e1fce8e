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

/// A floating type as its fields; every pattern with an exponent of ones is special in an IEEE one.
struct Fields {
    int exponentBits;
    int fractionBits;
    int bias;
    enum { Ieee, AllOnes, NegativeZero } nan = Ieee;
};

std::optional<Fields> fieldsOf(Dtype dtype)
{
    switch (dtype) {
    case Dtype::BF16:
        return Fields { 8, 7, 127 };
    case Dtype::F16:
        return Fields { 5, 10, 15 };
    case Dtype::F32:
        return Fields { 8, 23, 127 };
    case Dtype::F64:
        return Fields { 11, 52, 1023 };
    case Dtype::F8E5M2:
        return Fields { 5, 2, 15 };
    case Dtype::F8E4M3:
        return Fields { 4, 3, 7, Fields::AllOnes };
    case Dtype::F8E4M3Fnuz:
        return Fields { 4, 3, 8, Fields::NegativeZero };
    case Dtype::F8E5M2Fnuz:
        return Fields { 5, 2, 16, Fields::NegativeZero };
    default:
        return std::nullopt;
    }
}

bool isSigned(Dtype dtype)
{
    return dtype == Dtype::I8 || dtype == Dtype::I16 || dtype == Dtype::I32 || dtype == Dtype::I64;
}

constexpr Dtype Numbers[] = { Dtype::BF16,   Dtype::F16,        Dtype::F32,        Dtype::F64, Dtype::F8E5M2,
                              Dtype::F8E4M3, Dtype::F8E4M3Fnuz, Dtype::F8E5M2Fnuz, Dtype::I8,  Dtype::I16,
                              Dtype::I32,    Dtype::I64,        Dtype::Bool,       Dtype::U8,  Dtype::U16,
                              Dtype::U32,    Dtype::U64 };

std::uint64_t bitsAt(ByteSpan bytes, std::size_t element, std::size_t width)
{
    std::uint64_t bits = 0;
    for (std::size_t i = width; i-- > 0;)
        bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[element * width + i]);
    return bits;
}

void storeAt(MutableByteSpan bytes, std::size_t element, std::size_t width, std::uint64_t bits)
{
    for (std::size_t i = 0; i < width; ++i, bits >>= 8)
        bytes[element * width + i] = static_cast<std::byte>(bits);
}

/// One element, as a value and as sign and magnitude of its pattern.
struct Element {
    double value; ///< NaN for NaN
    bool negative;
    std::uint64_t magnitude;
};

Element floatOf(const Fields& fields, std::uint64_t bits)
{
    const int width = 1 + fields.exponentBits + fields.fractionBits;
    const std::uint64_t fraction = bits & ((std::uint64_t { 1 } << fields.fractionBits) - 1);
    const int most = (1 << fields.exponentBits) - 1;
    const int exponent = static_cast<int>(bits >> fields.fractionBits) & most;
    Element out { 0, (bits >> (width - 1)) != 0, bits & ((std::uint64_t { 1 } << (width - 1)) - 1) };
    const bool allOnes = exponent == most && fraction == (std::uint64_t { 1 } << fields.fractionBits) - 1;
    if ((fields.nan == Fields::AllOnes && allOnes)
        || (fields.nan == Fields::NegativeZero && out.negative && out.magnitude == 0)
        || (fields.nan == Fields::Ieee && exponent == most && fraction != 0))
        out.value = std::numeric_limits<double>::quiet_NaN();
    else if (fields.nan == Fields::Ieee && exponent == most)
        out.value = std::numeric_limits<double>::infinity();
    else
        out.value =
            std::ldexp(static_cast<double>(fraction) + (exponent > 0 ? std::ldexp(1.0, fields.fractionBits) : 0.0),
                       std::max(exponent, 1) - fields.bias - fields.fractionBits);
    if (out.negative)
        out.value = -out.value;
    return out;
}

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
        const double gap = std::fabs(x.value - y.value);
        if (!std::isfinite(gap))
            continue;
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

/// Two blocks in allocations of their own, so that a sanitizer sees what is read behind them.
struct Blocks {
    Blocks(std::size_t sizeBytes, std::size_t beforeOffset, std::size_t afterOffset)
        : m_before(std::make_unique<std::byte[]>(sizeBytes + beforeOffset))
        , m_after(std::make_unique<std::byte[]>(sizeBytes + afterOffset))
        , before(m_before.get() + beforeOffset, sizeBytes)
        , after(m_after.get() + afterOffset, sizeBytes)
    {
    }

private:
    std::unique_ptr<std::byte[]> m_before;
    std::unique_ptr<std::byte[]> m_after;

public:
    MutableByteSpan before;
    MutableByteSpan after;
};

/// Patterns that are special in some type of this width: zeros, denormals, the largest numbers, infinities, NaNs with
/// payloads, powers of two, each with both signs.
std::vector<std::uint64_t> patternsOf(Dtype dtype)
{
    const unsigned bits = bitsOf(dtype);
    const std::uint64_t sign = std::uint64_t { 1 } << (bits - 1);
    std::vector<std::uint64_t> magnitudes = { 0, 1, 2, 3, sign - 1, sign - 2 };
    for (unsigned bit = 0; bit + 1 < bits; ++bit)
        magnitudes.push_back(std::uint64_t { 1 } << bit);
    if (const std::optional<Fields> fields = fieldsOf(dtype)) {
        const std::uint64_t infinity = ((std::uint64_t { 1 } << fields->exponentBits) - 1) << fields->fractionBits;
        const std::uint64_t leastNormal = std::uint64_t { 1 } << fields->fractionBits;
        for (const std::uint64_t near : { infinity, leastNormal })
            for (const std::uint64_t off : { 0, 1, 2 }) {
                magnitudes.push_back(near + off);
                magnitudes.push_back(near - off);
            }
    }
    std::vector<std::uint64_t> out = magnitudes;
    for (const std::uint64_t magnitude : magnitudes)
        out.push_back(magnitude | sign);
    return out;
}

/// How elements of a block are made.
struct Mix {
    double special; ///< share of `before` that is one of patternsOf()
    double different; ///< share of elements that differ
};

Blocks blocksOf(Dtype dtype, std::size_t elements, std::size_t beforeOffset, std::size_t afterOffset, Mix mix,
                std::mt19937_64& random)
{
    const std::size_t width = bitsOf(dtype) / 8;
    const std::uint64_t all = width == 8 ? UINT64_MAX : (std::uint64_t { 1 } << (8 * width)) - 1;
    const std::vector<std::uint64_t> patterns = patternsOf(dtype);
    std::bernoulli_distribution isSpecial(mix.special);
    std::bernoulli_distribution isDifferent(mix.different);
    // Ordinary numbers have middle exponents.
    const std::optional<Fields> fields = fieldsOf(dtype);
    const auto ordinary = [&]() -> std::uint64_t {
        if (!fields)
            return random() & all;
        const auto exponent =
            static_cast<std::uint64_t>(std::max(1, fields->bias - 1 - static_cast<int>(random() % 4)));
        const std::uint64_t fraction = random() & ((std::uint64_t { 1 } << fields->fractionBits) - 1);
        const std::uint64_t sign = random() % 2;
        return sign << (8 * width - 1) | exponent << fields->fractionBits | fraction;
    };
    Blocks out(elements * width, beforeOffset, afterOffset);
    for (std::size_t i = 0; i < elements; ++i) {
        const auto any = [&] { return isSpecial(random) ? patterns[random() % patterns.size()] : ordinary(); };
        const std::uint64_t before = any();
        std::uint64_t after = before;
        if (isDifferent(random))
            after = random() % 2 == 0 ? (before + random() % 3 - 1) & all : any();
        storeAt(out.before, i, width, before);
        storeAt(out.after, i, width, after);
    }
    return out;
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
