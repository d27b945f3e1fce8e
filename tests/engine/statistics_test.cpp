#include "deltascope/engine/statistics.h"

#include "base/float16.h"
#include "state_fixture.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

// Statistics of one tensor, against a plain reading of all its values at once.

namespace deltascope {
namespace {

using namespace layout_test;

// --- reference -------------------------------------------------------------------------------------------------------

template <class Number> double read(const std::string& bytes, std::size_t at)
{
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return static_cast<double>(number);
}

std::uint16_t read16(const std::string& bytes, std::size_t at)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    return bits;
}

double float8e4m3(unsigned char bits)
{
    const int exponent = bits >> 3 & 15;
    const int fraction = bits & 7;
    if (exponent == 15 && fraction == 7)
        return std::nan("");
    const double size = exponent == 0 ? fraction / 8.0 / 64 : (1 + fraction / 8.0) * std::exp2(exponent - 7);
    return (bits & 0x80U) != 0 ? -size : size;
}

double valueAt(const std::string& bytes, Dtype dtype, std::size_t at)
{
    switch (dtype) {
    case Dtype::BF16:
        return bf16ToFloat(read16(bytes, at));
    case Dtype::F16:
        return f16ToFloat(read16(bytes, at));
    case Dtype::F8E5M2: // the upper half of a float16
        return f16ToFloat(static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U));
    case Dtype::F8E4M3:
        return float8e4m3(static_cast<unsigned char>(bytes[at]));
    case Dtype::F32:
        return read<float>(bytes, at);
    case Dtype::F64:
        return read<double>(bytes, at);
    case Dtype::I8:
        return read<std::int8_t>(bytes, at);
    case Dtype::I16:
        return read<std::int16_t>(bytes, at);
    case Dtype::I32:
        return read<std::int32_t>(bytes, at);
    case Dtype::U32:
        return read<std::uint32_t>(bytes, at);
    case Dtype::I64:
        return read<std::int64_t>(bytes, at);
    default:
        return read<std::uint8_t>(bytes, at);
    }
}

struct Values {
    std::vector<double> all;
    std::vector<double> finite; ///< ascending

    Values(const std::string& bytes, Dtype dtype)
    {
        for (std::size_t at = 0; at < bytes.size(); at += bitsOf(dtype) / 8)
            all.push_back(valueAt(bytes, dtype, at));
        std::copy_if(all.begin(), all.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
        std::sort(finite.begin(), finite.end());
    }
    template <class Is> std::uint64_t count(Is is) const
    {
        return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), is));
    }
};

void expectCounts(const ValueStatistics& seen, const Values& values)
{
    EXPECT_EQ(seen.finite, values.finite.size());
    EXPECT_EQ(seen.zeros, values.count([](double v) { return v == 0; }));
    EXPECT_EQ(seen.nan, values.count([](double v) { return std::isnan(v); }));
    EXPECT_EQ(seen.positiveInfinite, values.count([](double v) { return std::isinf(v) && v > 0; }));
    EXPECT_EQ(seen.negativeInfinite, values.count([](double v) { return std::isinf(v) && v < 0; }));
    ASSERT_FALSE(values.finite.empty());
    EXPECT_EQ(seen.min, values.finite.front());
    EXPECT_EQ(seen.max, values.finite.back());
    for (std::size_t i = 0; i < seen.percentiles.size(); ++i) {
        std::size_t rank = 1;
        while (rank * 1000 < ValueStatistics::PerMille[i] * values.finite.size())
            ++rank;
        EXPECT_EQ(seen.percentiles[i], values.finite[rank - 1]) << ValueStatistics::PerMille[i];
    }
}

void expectMoments(const ValueStatistics& seen, const Values& values)
{
    long double sum = 0;
    long double sizes = 0;
    long double squares = 0;
    for (const double value : values.finite) {
        sum += value;
        sizes += std::abs(value);
        squares += static_cast<long double>(value) * value;
    }
    const auto count = static_cast<long double>(values.finite.size());
    long double deviations = 0;
    for (const double value : values.finite)
        deviations += (value - sum / count) * (value - sum / count);
    ASSERT_TRUE(seen.mean && seen.std && seen.norm);
    EXPECT_NEAR(*seen.mean, static_cast<double>(sum / count), 1e-14 * static_cast<double>(sizes / count));
    EXPECT_NEAR(*seen.std / static_cast<double>(std::sqrt(deviations / count)), 1, 1e-12);
    EXPECT_NEAR(*seen.norm / static_cast<double>(std::sqrt(squares)), 1, 1e-14);
}

std::vector<std::uint64_t> binned(const std::vector<double>& edges, const std::vector<double>& values)
{
    std::vector<std::uint64_t> counts(edges.size() - 1);
    for (const double value : values) {
        const auto above = std::upper_bound(edges.begin(), edges.end(), value);
        ++counts[std::min<std::size_t>(static_cast<std::size_t>(above - edges.begin()), counts.size()) - 1];
    }
    return counts;
}

std::vector<double> sizesOf(const std::vector<double>& values)
{
    std::vector<double> sizes;
    for (const double value : values) {
        if (value != 0)
            sizes.push_back(std::abs(value));
    }
    return sizes;
}

// --- data ------------------------------------------------------------------------------------------------------------

std::string randomBits(std::size_t size, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::string text(size, '\0');
    for (char& byte : text)
        byte = static_cast<char>(random());
    return text;
}

template <class Number> void append(std::string& bytes, Number number)
{
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// As trained models have them: around zero, some zeros, few outliers.
std::string weights(Dtype dtype, std::size_t count, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.001, 0.02);
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = i % 97 == 0 ? 0 : normal(random) * (i % 1009 == 0 ? 40 : 1);
        switch (dtype) {
        case Dtype::BF16:
            append(bytes, floatToBf16(static_cast<float>(value)));
            break;
        case Dtype::F16:
            append(bytes, floatToF16(static_cast<float>(value)));
            break;
        case Dtype::F32:
            append(bytes, static_cast<float>(value));
            break;
        case Dtype::F64:
            append(bytes, value);
            break;
        case Dtype::I32:
            append(bytes, static_cast<std::int32_t>(value * 1e6));
            break;
        default:
            append(bytes, static_cast<std::int64_t>(value * 1e12));
        }
    }
    return bytes;
}

TensorStatistics statistics(Dtype dtype, const std::string& before, const std::string& after)
{
    const TensorInfo info = tensor("w", { after.size() / (bitsOf(dtype) / 8) }, dtype);
    const FileState a = stateOf(info, before);
    TaskContext task;
    auto seen = statisticsOf(bench(), &a, stateOf(info, after), "w", task);
    EXPECT_TRUE(seen) << seen.error().text;
    return seen ? *seen : TensorStatistics();
}

void expectHistograms(const TensorStatistics& seen, const Values& a, const Values& b)
{
    ASSERT_FALSE(seen.linear.edges.empty());
    EXPECT_TRUE(std::is_sorted(seen.linear.edges.begin(), seen.linear.edges.end()));
    EXPECT_EQ(seen.linear.edges.front(), std::min(a.finite.front(), b.finite.front()));
    EXPECT_EQ(seen.linear.edges.back(), std::max(a.finite.back(), b.finite.back()));
    EXPECT_EQ(seen.linear.a, binned(seen.linear.edges, a.finite));
    EXPECT_EQ(seen.linear.b, binned(seen.linear.edges, b.finite));
    ASSERT_FALSE(seen.logarithmic.edges.empty());
    EXPECT_LE(seen.logarithmic.b.size(), Histogram::Bins);
    EXPECT_EQ(seen.logarithmic.a, binned(seen.logarithmic.edges, sizesOf(a.finite)));
    EXPECT_EQ(seen.logarithmic.b, binned(seen.logarithmic.edges, sizesOf(b.finite)));
}

// --- values ----------------------------------------------------------------------------------------------------------

class StatisticsOf : public testing::TestWithParam<Dtype> { };

TEST_P(StatisticsOf, EveryBitPatternAreThoseOfItsValues)
{
    const Dtype dtype = GetParam();
    const std::size_t bytes = 130'001U * (bitsOf(dtype) / 8); // more than a block, no round number
    const std::string before = randomBits(bytes, 1);
    const std::string after = randomBits(bytes, 2);
    const TensorStatistics seen = statistics(dtype, before, after);
    const Values a(before, dtype);
    const Values b(after, dtype);
    expectCounts(*seen.a, a);
    expectCounts(seen.b, b);
    expectHistograms(seen, a, b);
}

INSTANTIATE_TEST_SUITE_P(Types, StatisticsOf,
                         testing::Values(Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::F8E5M2, Dtype::F8E4M3,
                                         Dtype::I8, Dtype::U8, Dtype::I16, Dtype::I32, Dtype::U32, Dtype::I64));

class StatisticsOfWeights : public testing::TestWithParam<Dtype> { };

TEST_P(StatisticsOfWeights, AreThoseOfTheirValues)
{
    const Dtype dtype = GetParam();
    const std::string before = weights(dtype, 200'003, 3);
    const std::string after = weights(dtype, 200'003, 4);
    const TensorStatistics seen = statistics(dtype, before, after);
    const Values a(before, dtype);
    const Values b(after, dtype);
    expectCounts(seen.b, b);
    expectMoments(*seen.a, a);
    expectMoments(seen.b, b);
    expectHistograms(seen, a, b);

    long double squares = 0;
    double most = 0;
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < a.all.size(); ++i) {
        const double gap = b.all[i] - a.all[i];
        different += before.compare(i * (bitsOf(dtype) / 8), bitsOf(dtype) / 8, after, i * (bitsOf(dtype) / 8),
                                    bitsOf(dtype) / 8)
            != 0;
        most = std::max(most, std::abs(gap));
        squares += static_cast<long double>(gap) * gap;
    }
    ASSERT_TRUE(seen.moved);
    EXPECT_EQ(seen.moved->different, different);
    EXPECT_EQ(seen.moved->maxAbs, most);
    EXPECT_NEAR(seen.moved->norm / static_cast<double>(std::sqrt(squares)), 1, 1e-14);
    EXPECT_EQ(std::accumulate(seen.moved->ulp.begin(), seen.moved->ulp.end(), std::uint64_t { 0 }), different);
}

INSTANTIATE_TEST_SUITE_P(Types, StatisticsOfWeights,
                         testing::Values(Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64));

TEST(Statistics, AFewFiniteValuesHaveThePercentilesOfTheirRanks)
{
    std::string bytes;
    for (const float value : { 4.0F, -1.0F, 2.0F, std::numeric_limits<float>::infinity(), 0.0F, -0.0F,
                               std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity() })
        append(bytes, value);
    const TensorInfo info = tensor("w", { 8 }, Dtype::F32);
    TaskContext task;
    const auto seen = statisticsOf(bench(), nullptr, stateOf(info, bytes), "w", task);
    ASSERT_TRUE(seen);
    const std::array<std::optional<double>, 5> percentiles { -1, -1, 0, 4, 4 };
    EXPECT_EQ(seen->b.percentiles, percentiles);
    EXPECT_EQ(seen->b.zeros, 2U);
    EXPECT_EQ(seen->b.nan, 1U);
    EXPECT_EQ(seen->b.positiveInfinite, 1U);
    EXPECT_EQ(seen->b.negativeInfinite, 1U);
    EXPECT_EQ(seen->b.mean, 1.0);
    EXPECT_FALSE(seen->a || seen->moved);
    EXPECT_TRUE(seen->linear.a.empty());
}

TEST(Statistics, WithoutAFiniteValueThereAreOnlyCounts)
{
    const TensorInfo info = tensor("w", { 2 }, Dtype::BF16);
    TaskContext task;
    for (const char* hex : { "c07f c07f", "807f 80ff", "" }) {
        TensorInfo some = info;
        some.shape = { fromHex(hex).size() / 2 };
        const auto seen = statisticsOf(bench(), nullptr, stateOf(some, fromHex(hex)), "w", task);
        ASSERT_TRUE(seen) << hex;
        EXPECT_EQ(seen->b.finite, 0U);
        EXPECT_FALSE(seen->b.min || seen->b.mean || seen->b.std || seen->b.norm || seen->b.percentiles[2]);
        EXPECT_TRUE(seen->linear.edges.empty());
        EXPECT_TRUE(seen->logarithmic.edges.empty());
    }
}

TEST(Statistics, OneValueFillsOneBin)
{
    const TensorStatistics seen = statistics(Dtype::BF16, fromHex("803f 803f"), fromHex("803f 803f")); // 1.0
    EXPECT_EQ(seen.linear.edges, (std::vector<double> { 1, 1 }));
    EXPECT_EQ(seen.linear.b, (std::vector<std::uint64_t> { 2 }));
    EXPECT_EQ(seen.logarithmic.edges, (std::vector<double> { 1, 2 }));
    EXPECT_EQ(seen.b.std, 0);
    EXPECT_EQ(seen.moved->different, 0U);
    EXPECT_FALSE(seen.moved->maxAbs);
}

TEST(Statistics, SquaresBeyondADoubleAreNotKnown)
{
    std::string bytes;
    append(bytes, 1e300);
    append(bytes, -1e300);
    const TensorStatistics seen = statistics(Dtype::F64, bytes, bytes);
    EXPECT_EQ(seen.b.max, 1e300);
    EXPECT_FALSE(seen.b.norm);
}

// --- how far values moved --------------------------------------------------------------------------------------------

TEST(ValuesMoved, AreCountedByTheirDistanceInRepresentableValues)
{
    // bf16: 1 -> next, 1 -> fourth next, -0 -> +0, tiny -> -tiny (three apart: two zeros lie between), same, NaN -> 1
    const TensorStatistics seen =
        statistics(Dtype::BF16, fromHex("803f 803f 0080 0100 0040 c07f"), fromHex("813f 843f 0000 0180 0040 803f"));
    EXPECT_EQ(seen.moved->different, 5U);
    EXPECT_EQ(seen.moved->nanInvolved, 1U);
    EXPECT_EQ(seen.moved->signFlips, 2U);
    EXPECT_EQ(seen.moved->ulp, (std::vector<std::uint64_t> { 2, 0, 2 })); // 1 twice; 3 and 4
    EXPECT_EQ(seen.moved->maxAbs, 4.0 / 128);
}

TEST(ValuesMoved, LargeIntegersKeepSmallDistances)
{
    std::string before;
    std::string after;
    append(before, std::numeric_limits<std::int64_t>::max());
    append(after, std::numeric_limits<std::int64_t>::max() - 1);
    append(before, std::int64_t { -1 });
    append(after, std::int64_t { 1 });
    const TensorStatistics seen = statistics(Dtype::I64, before, after);
    EXPECT_EQ(seen.moved->ulp, (std::vector<std::uint64_t> { 1, 1 }));
    EXPECT_EQ(seen.moved->maxAbs, 2);
    EXPECT_EQ(seen.moved->signFlips, 1U);
}

TEST(ValuesMoved, TheWidestDistanceHasABin)
{
    std::string before;
    std::string after;
    append(before, std::numeric_limits<std::int64_t>::min());
    append(after, std::numeric_limits<std::int64_t>::max());
    const TensorStatistics seen = statistics(Dtype::I64, before, after);
    ASSERT_EQ(seen.moved->ulp.size(), 65U);
    EXPECT_EQ(seen.moved->ulp.back(), 1U);
}

TEST(ValuesMoved, HaveALargestDistanceWhereOneIsFinite)
{
    const auto largest = [](const std::string& before, const std::string& after) {
        return statistics(Dtype::BF16, before, after).moved->maxAbs;
    };
    EXPECT_EQ(largest(fromHex("0080 803f"), fromHex("0000 803f")), 0) << "zeros of both signs";
    EXPECT_EQ(largest(fromHex("0080 807f"), fromHex("0000 803f")), 0);
    EXPECT_EQ(largest(fromHex("807f 803f"), fromHex("7f7f 803f")), std::nullopt) << "infinity";
    EXPECT_EQ(largest(fromHex("c07f 803f"), fromHex("803f c07f")), std::nullopt) << "NaN";
    std::string before;
    std::string after;
    append(before, 1e308);
    append(after, -1e308);
    EXPECT_EQ(statistics(Dtype::F64, before, after).moved->maxAbs, std::numeric_limits<double>::infinity());
}

TEST(ValuesMoved, HaveTheNormOfADiff)
{
    for (const Dtype dtype : { Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64 }) {
        const std::size_t count = 3 * 64 * 1024 + 5; // several blocks
        const TensorInfo info = tensor("w", { count }, dtype);
        std::string before = weights(dtype, count, 1);
        std::string after = weights(dtype, count, 2);
        TaskContext task;
        const auto report = diffStates(bench(), stateOf(info, before), stateOf(info, after), {}, task);
        ASSERT_TRUE(report) << report.error().text;
        const TensorStatistics seen = statistics(dtype, before, after);
        ASSERT_TRUE(seen.moved->relativeNorm) << word(dtype);
        EXPECT_EQ(seen.moved->relativeNorm, report->tensors.front().relativeNorm) << word(dtype);
        EXPECT_DOUBLE_EQ(*seen.moved->relativeNorm, seen.moved->norm / *seen.a->norm) << word(dtype);
    }
}

TEST(ValuesMoved, HaveNoNormBesideOneThatIsTooLarge)
{
    std::string before;
    append(before, 1e300);
    append(before, 1.0);
    std::string after = before.substr(0, 8);
    append(after, 2.0);
    const TensorStatistics seen = statistics(Dtype::F64, before, after);
    EXPECT_EQ(seen.moved->norm, 1);
    EXPECT_FALSE(seen.moved->relativeNorm);
}

TEST(Statistics, OtherFormsAndTypesWithoutNumbersAreRefused)
{
    TaskContext task;
    const FileState bf16 = stateOf(tensor("w", { 2 }, Dtype::BF16), "1234");
    const FileState f16 = stateOf(tensor("w", { 2 }, Dtype::F16), "1234");
    const auto other = statisticsOf(bench(), &bf16, f16, "w", task);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::Unsupported);
    const auto unknown = statisticsOf(bench(), nullptr, bf16, "v", task);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::NotFound);
    const FileState complex = stateOf(tensor("w", { 1 }, Dtype::C64), "12345678");
    const auto without = statisticsOf(bench(), nullptr, complex, "w", task);
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().code, Code::Unsupported);
}

}
} // namespace deltascope
