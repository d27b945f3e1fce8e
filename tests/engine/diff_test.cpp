#include "diff_fixture.h"
#include "support/counting_store.h"

// diffStates: bits that differ.

namespace deltascope {
namespace {

using namespace diff_test;

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

} // namespace
} // namespace deltascope
