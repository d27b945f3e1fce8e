#include "diff_fixture.h"
#include "support/temp_dir.h"

#include <tuple>

// diffStates: what was touched on the way, and states of different forms.

namespace deltascope {
namespace {

using namespace diff_test;
using test::TempDir;

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
