#include "deltascope/engine/operations.h"

#include "state_fixture.h"
#include "support/counting_store.h"
#include "support/temp_dir.h"

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

// diffStates: bits that differ, how far the values are apart, and what was touched on the way.

namespace deltascope {
namespace {

using namespace layout_test;
using test::TempDir;

using EngineRun = deltascope::Run;

template <class Word> std::string packed(const std::vector<Word>& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

DiffReport diffOf(const std::vector<FileTensor>& a, const std::vector<FileTensor>& b)
{
    TaskContext task;
    const auto report = diffStates(bench(), stateOf(a), stateOf(b), {}, task);
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : DiffReport();
}

/// The difference between two versions of one tensor.
template <class Word> TensorDiff diffOfValues(Dtype dtype, const std::vector<Word>& a, const std::vector<Word>& b)
{
    const TensorInfo info = tensor("w", { a.size() * sizeof(Word) * 8 / bitsOf(dtype) }, dtype);
    const DiffReport report = diffOf({ { info, packed(a) } }, { { info, packed(b) } });
    return report.tensors.empty() ? TensorDiff() : report.tensors.front();
}

TEST(Diff, AStateEqualsItself)
{
    const std::vector<FileTensor> state = { { tensor("a", { 4 }), "12345678" }, { tensor("b", { 0 }), "" } };
    const DiffReport report = diffOf(state, state);
    EXPECT_TRUE(report.equal());
    EXPECT_EQ(report.tensorsCompared, 2U);
    EXPECT_EQ(report.elementsCompared, 4U);
    EXPECT_EQ(report.bytesCompared, 8U);
    EXPECT_TRUE(report.tensors.empty());
}

TEST(Diff, StatesOfWhichNothingWasComparedAreNotEqual)
{
    EXPECT_FALSE(diffOf({}, {}).equal());
    const std::vector<FileTensor> empty = { { tensor("a", { 0 }), "" } };
    EXPECT_TRUE(diffOf(empty, empty).equal()) << "a tensor without elements has a name, a dtype and a shape";
}

TEST(Diff, ComparesOnlyTheTensorsThatAreMeant)
{
    TaskContext task;
    const auto globbed = [&](std::vector<std::string> globs) {
        return diffStates(bench(),
                          stateOf({ { tensor("a.x", { 1 }), "12" },
                                    { tensor("a.y", { 1 }), "34" },
                                    { tensor("b.x", { 1 }), "56" },
                                    { tensor("only.a", { 1 }), "78" } }),
                          stateOf({ { tensor("a.x", { 1 }), "12" },
                                    { tensor("a.y", { 1 }), "3x" },
                                    { tensor("b.x", { 2 }), "56xx" },
                                    { tensor("only.b", { 1 }), "78" } }),
                          {}, task, { TensorGlobs(std::move(globs)), false, {} });
    };
    const auto one = globbed({ "*.x" });
    ASSERT_TRUE(one);
    EXPECT_EQ(one->tensorsCompared, 1U);
    EXPECT_EQ(one->bytesCompared, 2U);
    EXPECT_EQ(one->reshaped.size(), 1U);
    EXPECT_EQ(one->tensorsLeftOut, 3U);
    EXPECT_TRUE(one->onlyInA.empty() && one->onlyInB.empty());
    const auto two = globbed({ "a.?", "only.[a]" });
    ASSERT_TRUE(two);
    EXPECT_EQ(two->tensorsCompared, 2U);
    EXPECT_EQ(two->elementsDifferent(), 1U);
    EXPECT_EQ(two->onlyInA, std::vector<std::string> { "only.a" });
    EXPECT_EQ(two->tensorsLeftOut, 2U);
    EXPECT_TRUE(globbed({ "a.x" })->equal());
    EXPECT_EQ(globbed({ "*" })->tensorsLeftOut, 0U);
    EXPECT_EQ(globbed({})->tensorsLeftOut, 0U);
    const auto none = globbed({ "a.x", "olny.*" });
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::NotFound);
    EXPECT_NE(none.error().text.find("tensor that fits olny.*; did you mean only.a or only.b?"), std::string::npos)
        << none.error().text;
}

TEST(Diff, ANameIsNoPatternWhereATensorHasIt)
{
    TaskContext task;
    const auto compared = [&](std::vector<std::string> globs) {
        const std::vector<FileTensor> tensors { { tensor("*", { 1 }), "12" },
                                                { tensor("x0", { 1 }), "34" },
                                                { tensor("x[0]", { 1 }), "56" },
                                                { tensor("y", { 1 }), "78" } };
        const auto report = diffStates(bench(), stateOf(tensors), stateOf(tensors), {}, task,
                                       { TensorGlobs(std::move(globs)), false, {} });
        EXPECT_TRUE(report) << report.error().text;
        return report ? report->tensorsCompared : 0U;
    };
    EXPECT_EQ(compared({ "x[0]" }), 1U);
    EXPECT_EQ(compared({ "*" }), 1U);
    EXPECT_EQ(compared({ "x[0-9]" }), 1U); // x0
    EXPECT_EQ(compared({ "x*" }), 2U);
    EXPECT_EQ(compared({ "x[0]", "x*" }), 2U);
}

TEST(Diff, ReadsOnlyTheTensorsThatAreMeant)
{
    constexpr std::uint64_t Bytes = 4U << 20;
    const std::string data(Bytes, 'x');
    const auto memory = std::make_shared<MemoryStore>();
    ASSERT_TRUE(
        putText(*memory, "m.safetensors",
                safetensorsFile({ { tensor("a", { Bytes / 2 }), data }, { tensor("b", { Bytes / 2 }), data } })));
    const auto counting = std::make_shared<test::CountingStore>(memory);
    TaskContext task;
    const auto readFor = [&](std::vector<std::string> globs) {
        const auto state = FileState::open(counting, "m.safetensors", task);
        EXPECT_TRUE(state);
        const std::size_t before = counting->reads().size();
        EXPECT_TRUE(diffStates(bench(), *state, *state, {}, task, { TensorGlobs(std::move(globs)), false, {} }));
        std::uint64_t bytes = 0;
        const auto reads = counting->reads();
        for (std::size_t i = before; i < reads.size(); ++i)
            bytes += reads[i].bytes;
        return bytes;
    };
    EXPECT_GE(readFor({}), 4 * Bytes);
    EXPECT_LT(readFor({ "b" }), 2 * Bytes + Bytes / 2);
}

TEST(Diff, CountsTensorsAndElements)
{
    const DiffReport report =
        diffOf({ { tensor("a", { 4 }), "12345678" }, { tensor("b", { 2 }), "abcd" }, { tensor("c", { 1 }), "xy" } },
               { { tensor("a", { 4 }), "1x3456y8" }, { tensor("b", { 2 }), "abcd" }, { tensor("c", { 1 }), "xz" } });
    EXPECT_FALSE(report.equal());
    EXPECT_EQ(report.tensorsDifferent(), 2U);
    EXPECT_EQ(report.elementsDifferent(), 3U);
    ASSERT_EQ(report.tensors.size(), 2U);
    EXPECT_EQ(report.tensors[0].tensor.name, "a");
    EXPECT_EQ(report.tensors[1].tensor.name, "c");
}

TEST(Diff, TensorsOfOneSideAreListed)
{
    const DiffReport report =
        diffOf({ { tensor("a", { 1 }), "12" }, { tensor("z", { 1 }), "12" }, { tensor("m", { 1 }), "12" } },
               { { tensor("b", { 1 }), "12" }, { tensor("m", { 1 }), "12" } });
    EXPECT_EQ(report.onlyInA, (std::vector<std::string> { "a", "z" }));
    EXPECT_EQ(report.onlyInB, (std::vector<std::string> { "b" }));
    EXPECT_FALSE(report.equal());
    EXPECT_EQ(report.tensorsDifferent(), 0U);
}

TEST(Diff, AnotherShapeIsNotCompared)
{
    const DiffReport report =
        diffOf({ { tensor("a", { 2, 3 }), "123456789012" } }, { { tensor("a", { 3, 2 }), "123456789012" } });
    ASSERT_EQ(report.reshaped.size(), 1U);
    EXPECT_EQ(report.reshaped[0].a.shape, (std::vector<std::uint64_t> { 2, 3 }));
    EXPECT_EQ(report.reshaped[0].b.shape, (std::vector<std::uint64_t> { 3, 2 }));
    EXPECT_FALSE(report.equal());
    EXPECT_EQ(report.tensorsCompared, 0U);
}

TEST(Diff, AnotherTypeIsNotCompared)
{
    const DiffReport report =
        diffOf({ { tensor("a", { 2 }, Dtype::F16), "1234" } }, { { tensor("a", { 2 }), "1234" } });
    EXPECT_EQ(report.reshaped.size(), 1U);
    EXPECT_FALSE(report.equal());
}

TEST(Diff, TensorsOfSeveralBlocksAreComparedWhole)
{
    std::string a(3 * 128 * 1024 + 6, 'a');
    std::string b = a;
    for (const std::size_t at : { std::size_t(0), std::size_t(128 * 1024), a.size() - 1 })
        b[at] = 'b';
    const TensorInfo info = tensor("w", { a.size() / 2 });
    const DiffReport report = diffOf({ { info, a } }, { { info, b } });
    EXPECT_EQ(report.elementsDifferent(), 3U);
}

// --- norms -----------------------------------------------------------------------------------------------------------

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

// --- values ----------------------------------------------------------------------------------------------------------

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

// --- touched ---------------------------------------------------------------------------------------------------------

/// A TRL run with one tensor "w" of `elements` zeros and deltas on it.
class TouchRun {
public:
    explicit TouchRun(std::uint64_t elements)
        : m_store(std::make_shared<MemoryStore>())
    {
        put("anchors/step_000001.safetensors", "False",
            { { tensor("w", { elements }), std::string(2 * elements, '\0') } });
    }
    TouchRun& delta(const std::vector<std::uint32_t>& positions, const std::vector<std::uint16_t>& values)
    {
        put(fmt::format("deltas/step_{:06}.safetensors", ++m_step), "True",
            { { tensor("w.idx", { positions.size() }, Dtype::I32), packed(positions) },
              { tensor("w.val", { values.size() }), packed(values) } });
        return *this;
    }
    TouchRun& anchor(const std::vector<std::uint16_t>& values)
    {
        put(fmt::format("anchors/step_{:06}.safetensors", ++m_step), "False",
            { { tensor("w", { values.size() }), packed(values) } });
        return *this;
    }

    DiffReport diff(std::int64_t a, std::int64_t b, bool bBuildsOnA = true)
    {
        TaskContext task;
        auto run = openRun(bench(), m_store, {}, task);
        EXPECT_TRUE(run);
        const auto pathOf = [&](std::int64_t step) {
            const auto plan = planFor(*run, *run->find(step));
            EXPECT_TRUE(plan);
            const auto path = openPath(*run, *plan, { 2 }, task);
            EXPECT_TRUE(path);
            return path.value_or(nullptr);
        };
        const PathPtr left = pathOf(a);
        const PathPtr right = pathOf(b);
        std::optional<std::size_t> link;
        for (std::size_t i = 0; bBuildsOnA && i < right->links().size(); ++i) {
            if (right->links()[i]->objects.step == a)
                link = i;
        }
        const TempDir scratch;
        Workbench withScratch = bench();
        withScratch.scratchFolder = scratch.path();
        const auto report = diffStates(withScratch, *left, *right, link, task);
        EXPECT_TRUE(report);
        return report ? *report : DiffReport();
    }

private:
    void put(const std::string& key, const std::string& sparse, const std::vector<FileTensor>& tensors)
    {
        EXPECT_TRUE(putText(
            *m_store, key,
            safetensorsFile(tensors,
                            { { "format", "sparse_weight_patch" }, { "sparse", sparse }, { "encoding", "raw" } })));
    }

    std::shared_ptr<MemoryStore> m_store;
    std::int64_t m_step = 1;
};

TEST(DiffTouched, CountsElementsOnceHoweverOftenTheyChanged)
{
    TouchRun run(8);
    run.delta({ 0, 1 }, { 1, 1 }).delta({ 1, 2 }, { 2, 2 }).delta({ 1 }, { 3 });
    const DiffReport report = run.diff(1, 4);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_TRUE(report.touchedKnown);
    EXPECT_EQ(report.tensors[0].different, 3U);
    EXPECT_EQ(report.tensors[0].touched, 3U);
}

TEST(DiffTouched, AnElementThatCameBackWasTouchedAndDoesNotDiffer)
{
    TouchRun run(8);
    run.delta({ 0, 1 }, { 1, 1 }).delta({ 0 }, { 0 });
    const DiffReport report = run.diff(1, 3);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors[0].different, 1U);
    EXPECT_EQ(report.tensors[0].touched, 2U);
}

TEST(DiffTouched, ATensorThatCameBackWholeIsListedAndEqual)
{
    TouchRun run(8);
    run.delta({ 5 }, { 1 }).delta({ 5 }, { 0 });
    const DiffReport report = run.diff(1, 3);
    EXPECT_TRUE(report.equal());
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors[0].touched, 1U);
    EXPECT_EQ(report.tensors[0].different, 0U);
}

TEST(DiffTouched, ANoopTouchesNothing)
{
    TouchRun run(8);
    run.delta({ 3, 4 }, { 0, 7 });
    const DiffReport report = run.diff(1, 2);
    EXPECT_EQ(report.tensors[0].touched, 1U);
    EXPECT_TRUE(report.noopsSeen);
}

TEST(DiffTouched, WhatHappenedBeforeAIsLeftOut)
{
    TouchRun run(8);
    run.delta({ 0, 1, 2 }, { 1, 1, 1 }).delta({ 7 }, { 1 });
    const DiffReport report = run.diff(2, 3);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors[0].touched, 1U);
}

TEST(DiffTouched, EveryBlockOfALongTensorCounts)
{
    TouchRun run(200'000);
    run.delta({ 0, 65'535, 65'536, 199'999 }, { 1, 1, 1, 1 }).delta({ 0, 131'072, 199'999 }, { 2, 2, 0 });
    const DiffReport report = run.diff(1, 3);
    EXPECT_EQ(report.tensors[0].touched, 5U);
    EXPECT_EQ(report.tensors[0].different, 4U);
}

TEST(DiffTouched, IsUnknownWhereBDoesNotBuildOnA)
{
    TouchRun run(8);
    run.delta({ 0 }, { 1 });
    const DiffReport report = run.diff(1, 2, false);
    EXPECT_FALSE(report.touchedKnown);
    EXPECT_FALSE(report.tensors[0].touched);
    EXPECT_EQ(report.tensors[0].different, 1U);
}

TEST(DiffTouched, IsExactOrUnknownOnAChainOfManyStretches)
{
    for (const std::uint64_t elements : { 100ULL, 200'000ULL }) { // one block, several blocks
        TouchRun run(elements);
        for (std::uint32_t i = 0; i < 300; ++i)
            run.delta({ i % 50 }, { static_cast<std::uint16_t>(i + 1) });
        const DiffReport report = run.diff(1, 301);
        ASSERT_EQ(report.tensors.size(), 1U);
        EXPECT_EQ(report.tensors[0].different, 50U);
        EXPECT_EQ(report.tensors[0].touched.value_or(50), 50U) << elements;
        EXPECT_EQ(report.touchedKnown, report.tensors[0].touched.has_value());
    }
}

TEST(DiffTouched, AVersionAgainstItselfTouchesNothing)
{
    TouchRun run(8);
    run.delta({ 0 }, { 1 });
    const DiffReport report = run.diff(2, 2);
    EXPECT_TRUE(report.equal());
    EXPECT_TRUE(report.touchedKnown);
    EXPECT_TRUE(report.tensors.empty());
}

TEST(Diff, TwoEpochsOrAnchorsOfOneRunCompareLikeCheckpoints)
{
    TouchRun run(3);
    run.delta({ 0 }, { 0x3f80 }).anchor({ 0x3f81, 0, 0x8000 });
    const DiffReport report = run.diff(2, 3, false);
    ASSERT_EQ(report.tensors.size(), 1U);
    EXPECT_EQ(report.tensors[0].different, 2U);
    EXPECT_EQ(report.tensors[0].maxUlp, 1U);
}

TEST(Diff, AFailingPublisherDigestStopsIt)
{
    auto store = openLocalStore(goldenPath("slime-v2-badchecksum/bucket"));
    auto base = openLocalStore(goldenPath("slime-v2-badchecksum/base"));
    ASSERT_TRUE(store && base);
    TaskContext task;
    OpenOptions options;
    options.base = std::move(*base);
    auto run = openRun(bench(), std::move(*store), options, task);
    ASSERT_TRUE(run);
    const auto plan = planFor(*run, *run->find(5));
    ASSERT_TRUE(plan); // nothing was replayed yet
    const auto path = openPath(*run, *plan, { 2 }, task);
    ASSERT_TRUE(path);
    const Error error = errorOf(
        diffStates(bench(), stateOf({ { tensor("model.embed_tokens.weight", { 128, 32 }), std::string(8192, 'x') } }),
                   **path, {}, task));
    EXPECT_EQ(error.code, Code::Digest);
    EXPECT_EQ(error.step, 3);
}

TEST(Diff, AStoppedTaskIsCanceled)
{
    TaskContext task;
    const FileState state = stateOf({ { tensor("a", { 4 }), "12345678" } });
    task.requestStop();
    EXPECT_EQ(errorOf(diffStates(bench(), state, state, {}, task)).code, Code::Canceled);
}

DiffReport acrossForms(const std::vector<FileTensor>& a, const std::vector<FileTensor>& b,
                       std::optional<PrefixMap> prefixes = {})
{
    TaskContext task;
    const auto report =
        diffStates(bench(), stateOf(a), stateOf(b), {}, task, { TensorGlobs(), true, std::move(prefixes) });
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : DiffReport();
}

TEST(DiffAcrossForms, NamesThatDifferByAPrefixAreCompared)
{
    const std::vector<FileTensor> plain { { tensor("model.norm", { 1 }), "12" },
                                          { tensor("model.embed", { 2 }), "3456" },
                                          { tensor("lm_head", { 1 }), "78" } };
    const std::vector<FileTensor> compiled { { tensor("_orig_mod.model.norm", { 1 }), "1x" },
                                             { tensor("_orig_mod.model.embed", { 2 }), "3456" },
                                             { tensor("_orig_mod.lm_head", { 1 }), "78" } };
    const std::vector<FileTensor> inside { { tensor("model.language_model.norm", { 1 }), "1x" },
                                           { tensor("model.language_model.embed", { 2 }), "3456" },
                                           { tensor("lm_head", { 1 }), "78" } };
    for (const auto& [other, a, b] :
         { std::tuple(compiled, "", "_orig_mod."), std::tuple(inside, "model.", "model.language_model.") }) {
        const DiffReport report = acrossForms(plain, other);
        ASSERT_EQ(report.forms.size(), 1U);
        EXPECT_EQ(report.forms[0].kind, FormDifference::Kind::Names);
        EXPECT_EQ(report.forms[0].a, a);
        EXPECT_EQ(report.forms[0].b, b);
        EXPECT_NE(report.forms[0].text().find(b), std::string::npos) << report.forms[0].text();
        EXPECT_EQ(report.tensorsCompared, 3U);
        EXPECT_EQ(report.elementsDifferent(), 1U);
        EXPECT_TRUE(report.onlyInA.empty() && report.onlyInB.empty());
        const DiffReport back = acrossForms(other, plain);
        ASSERT_EQ(back.forms.size(), 1U);
        EXPECT_EQ(back.forms[0].b, a);
        EXPECT_EQ(back.elementsDifferent(), 1U);
        EXPECT_FALSE(acrossForms(other, other).forms.size() > 0 || back.equal());
        EXPECT_EQ(diffOf(plain, other).forms.size(), 0U) << "only where it is asked for";
    }
    const DiffReport same = acrossForms(plain, plain);
    EXPECT_TRUE(same.equal() && same.forms.empty());
}

TEST(DiffAcrossForms, ModelsOfOtherNamesAreNotForcedTogether)
{
    const DiffReport report =
        acrossForms({ { tensor("a.x", { 1 }), "12" }, { tensor("a.y", { 1 }), "12" }, { tensor("a.z", { 1 }), "12" } },
                    { { tensor("b.u", { 1 }), "12" }, { tensor("b.v", { 1 }), "12" }, { tensor("b.x", { 1 }), "12" } });
    EXPECT_TRUE(report.forms.empty());
    EXPECT_EQ(report.tensorsCompared, 0U);
    EXPECT_EQ(report.onlyInA.size(), 3U);
    const DiffReport named =
        acrossForms({ { tensor("a.x", { 1 }), "12" }, { tensor("a.y", { 1 }), "12" } },
                    { { tensor("b.x", { 1 }), "1x" }, { tensor("b.v", { 1 }), "12" } }, PrefixMap { "a.", "b." });
    EXPECT_EQ(named.tensorsCompared, 1U);
    EXPECT_EQ(named.elementsDifferent(), 1U);
    EXPECT_EQ(named.onlyInA, (std::vector<std::string> { "a.y" }));
    TaskContext task;
    const FileState state = stateOf({ { tensor("a.x", { 1 }), "12" } });
    EXPECT_EQ(
        errorOf(diffStates(bench(), state, state, {}, task, { TensorGlobs(), true, PrefixMap { "a.", "b." } })).code,
        Code::NotFound);
}

TEST(DiffAcrossForms, LayersThatAdaptersWrapAreCompared)
{
    const std::vector<FileTensor> plain { { tensor("model.up.weight", { 1 }), "12" },
                                          { tensor("model.norm.weight", { 1 }), "34" } };
    const std::vector<FileTensor> wrapped { { tensor("base_model.model.model.up.base_layer.weight", { 1 }), "1x" },
                                            { tensor("base_model.model.model.up.lora_A.default.weight", { 1 }), "56" },
                                            { tensor("base_model.model.model.norm.weight", { 1 }), "34" } };
    for (const bool back : { false, true }) {
        const DiffReport report = back ? acrossForms(wrapped, plain) : acrossForms(plain, wrapped);
        ASSERT_EQ(report.forms.size(), 1U);
        EXPECT_EQ(report.forms[0].kind, FormDifference::Kind::Adapters);
        EXPECT_NE(report.forms[0].text().find("base_model"), std::string::npos) << report.forms[0].text();
        EXPECT_EQ(report.tensorsCompared, 2U);
        EXPECT_EQ(report.elementsDifferent(), 1U);
        EXPECT_EQ((back ? report.onlyInA : report.onlyInB).size(), 1U);
    }
}

TEST(DiffAcrossForms, AWiderStateIsComparedAsRounded)
{
    // 1.0, and what rounds to it or to the next one up: ties go to the even one.
    const std::vector<std::uint16_t> narrow { 0x3F80, 0x3F80, 0x3F80, 0x3F81, 0xFF80, 0x7FC0 };
    const std::vector<std::uint32_t> wide { 0x3F800000, 0x3F808000, 0x3F808001, 0x3F818000, 0xFF800000, 0x7F800001 };
    const FileTensor a { { "w", Dtype::BF16, { 6 } }, packed(narrow) };
    const FileTensor b { { "w", Dtype::F32, { 6 } }, packed(wide) };
    for (const auto& [left, right] : { std::pair(a, b), std::pair(b, a) }) {
        const DiffReport report = acrossForms({ left }, { right });
        ASSERT_EQ(report.forms.size(), 1U);
        EXPECT_EQ(report.forms[0].kind, FormDifference::Kind::Dtypes);
        EXPECT_EQ(report.tensorsCompared, 1U);
        EXPECT_EQ(report.elementsDifferent(), 2U) << "0x3F808001 and 0x3F818000 round up";
        ASSERT_EQ(report.tensors.size(), 1U);
        EXPECT_EQ(report.tensors[0].tensor.dtype, Dtype::BF16);
        EXPECT_FALSE(report.equal());
    }
    const DiffReport whole =
        acrossForms({ { { "w", Dtype::BF16, { 1 } }, "12" } }, { { { "w", Dtype::I32, { 1 } }, "1234" } });
    EXPECT_TRUE(whole.forms.empty());
    EXPECT_EQ(whole.reshaped.size(), 1U) << "an integer is no rounded form";
}

/// A tensor of several blocks: a rounded block is shorter than one of the other side.
TEST(DiffAcrossForms, BlocksOfBothSidesMeet)
{
    constexpr std::size_t Count = 3 << 20;
    std::vector<std::uint16_t> narrow(Count);
    std::vector<std::uint32_t> wide(Count);
    for (std::size_t i = 0; i < Count; ++i) {
        narrow[i] = static_cast<std::uint16_t>(0x3F80 + i % 61);
        wide[i] = std::uint32_t { narrow[i] } << 16;
    }
    for (const std::size_t at : { std::size_t { 0 }, Count / 2, Count - 1 })
        wide[at] += 0x10000;
    const DiffReport report = acrossForms({ { { "w", Dtype::BF16, { Count } }, packed(narrow) } },
                                          { { { "w", Dtype::F32, { Count } }, packed(wide) } });
    EXPECT_EQ(report.elementsDifferent(), 3U);
    EXPECT_EQ(report.elementsCompared, Count);
}

} // namespace
} // namespace deltascope
