#include "deltascope/app/view/json.h"
#include "deltascope/engine/safetensors.h"
#include "service/checkpoint_changes.h"

#include "service_fixture.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

// What the steps of a log changed: in some tensors, and of plain checkpoints against the one before.

namespace deltascope::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class LogJobs : public ServiceFixture {
protected:
    std::shared_ptr<const LogView> log(const SourceRequest& source, std::vector<std::string> tensors = {},
                                       std::optional<std::uint32_t> compare = {}, Depth depth = Depth::Replayed)
    {
        return viewOf<LogView>(service->log({ source, depth, std::move(tensors), compare }));
    }
    static const StepChangeView& changeAt(const LogView& log, std::int64_t step)
    {
        return *std::find_if(log.changes.begin(), log.changes.end(),
                             [&](const StepChangeView& change) { return change.step == step; });
    }
};

// --- some tensors ----------------------------------------------------------------------------------------------------

class LogOfTensors : public LogJobs, public testing::WithParamInterface<const char*> { };

TEST_P(LogOfTensors, CountsWhatStepsShowOfThem)
{
    const BucketCopy bucket(GetParam());
    const TensorGlobs meant({ "*.down_proj.*", "*norm*" });
    for (int look = 0; look < 2; ++look) { // the second one knows it from the catalog
        const auto view = log(bucket.source(), meant.globs());
        EXPECT_GT(view->tensors, 2U);
        EXPECT_LT(view->tensors, view->tensorsInAll);
        bool any = false;
        for (const EpochView& epoch : view->run.epochs) {
            for (const StepView& step : epoch.steps) {
                if (!step.restorable || step.state == "gap")
                    continue;
                const auto detail = viewOf<StepDetailView>(service->showStep(
                    { bucket.source(), fmt::format("{}:{}", step.epoch, step.step) }, Depth::Replayed));
                std::optional<std::uint64_t> expected = 0;
                for (const TensorCountView& tensor : detail->tensors) {
                    if (meant.mean(tensor.name))
                        expected = tensor.changedVsPrevious && expected
                            ? std::optional(*expected + *tensor.changedVsPrevious)
                            : std::nullopt;
                }
                const auto change =
                    std::find_if(view->changes.begin(), view->changes.end(), [&](const StepChangeView& one) {
                        return one.epoch == step.epoch && one.step == step.step;
                    });
                ASSERT_NE(change, view->changes.end());
                EXPECT_EQ(change->elements, expected) << step.step;
                any = any || change->elements.value_or(0) > 0;
            }
        }
        EXPECT_TRUE(any);
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, LogOfTensors,
                         testing::Values("trl-v2-gap", "trl-v2-restart", "trl-v2-partial-anchor", "slime-v2-xor"));

TEST_F(LogJobs, AGlobThatFitsNothingIsNamedWithNamesThatAreNear)
{
    const BucketCopy bucket("trl-v2-gap");
    const Error error =
        errorOf(service->log({ bucket.source(), Depth::Replayed, { "*norm*", "model.layers.0.mlp.down_porj.*" }, {} }));
    EXPECT_EQ(error.code, Code::NotFound);
    EXPECT_NE(error.text.find("no tensor that fits model.layers.0.mlp.down_porj.*; did you mean "
                              "model.layers.0.mlp.down_proj.weight?"),
              std::string::npos)
        << error.text;
}

TEST_F(LogJobs, WithoutReplayNothingIsClaimed)
{
    const BucketCopy bucket("trl-v2-gap");
    const auto view = log(bucket.source(), { "*norm*" }, {}, Depth::Headers);
    for (const StepChangeView& change : view->changes)
        EXPECT_FALSE(change.elements) << change.step;
    EXPECT_TRUE(Json::parse(toJson(*view))["changes"][1]["changed_elems"].is_null());
}

TEST_F(LogJobs, WithoutTensorsItIsTheRunAsItWasOpened)
{
    const BucketCopy bucket("trl-v2-gap");
    Json opened = Json::parse(toJson(*viewOf<RunView>(service->openRun(bucket.source(), Depth::Replayed))));
    Json logged = Json::parse(toJson(*log(bucket.source())));
    opened.erase("rev");
    logged.erase("rev");
    EXPECT_EQ(logged, opened);
}

// --- plain checkpoints -----------------------------------------------------------------------------------------------

class LogOfCheckpoints : public LogJobs {
protected:
    LogOfCheckpoints()
    {
        fs::create_directory(home.path("run"));
        for (const int step : { 1, 3, 7 })
            write(step, step);
        source.source = home.path("run");
    }
    /// The state of a step of a run with deltas, as checkpoint-N.
    void write(int step, int number)
    {
        MaterializeRequest request;
        request.version = { bucket.source(), fmt::format("0:{}", step) };
        request.destination = checkpoint(number);
        viewOf<MaterializeView>(service->materialize(request));
    }
    std::string checkpoint(int number) const { return home.path(fmt::format("run/checkpoint-{}", number)); }
    std::uint64_t differing(int a, int b)
    {
        return viewOf<DiffView>(service->diff({ bucket.source(), fmt::format("0:{}", a) },
                                              { bucket.source(), fmt::format("0:{}", b) }))
            ->elementsDifferent;
    }

    BucketCopy bucket { "trl-v2-gap" };
    SourceRequest source;
};

TEST_F(LogOfCheckpoints, ComparesEachWithTheOneBefore)
{
    const auto view = log(source);
    ASSERT_TRUE(view->comparison);
    EXPECT_EQ(view->comparison->compared, 2U);
    EXPECT_EQ(view->comparison->known, 0U);
    EXPECT_EQ(view->comparison->pairs, 2U);
    EXPECT_EQ(changeAt(*view, 3).elements, differing(1, 3));
    EXPECT_EQ(changeAt(*view, 7).elements, differing(3, 7));
    EXPECT_EQ(changeAt(*view, 7).bytes, 2 * differing(3, 7));
    EXPECT_FALSE(changeAt(*view, 1).elements);
    const StepView& newest = view->run.epochs.front().steps.back();
    EXPECT_EQ(newest.changedVsPrevious, differing(3, 7));
    EXPECT_GT(newest.changedFraction, 0);
}

TEST_F(LogOfCheckpoints, ReadsThemOnceWhileTheyAreTheSame)
{
    const auto first = log(source);
    const auto again = log(source);
    EXPECT_EQ(again->comparison->known, 2U);
    EXPECT_EQ(again->comparison->readBytes, 0U);
    Json expected = Json::parse(toJson(*first))["changes"];
    EXPECT_EQ(Json::parse(toJson(*again))["changes"], expected);
    fs::remove_all(checkpoint(7));
    write(9, 7);
    const auto changed = log(source);
    EXPECT_EQ(changed->comparison->known, 1U);
    EXPECT_EQ(changeAt(*changed, 7).elements, differing(3, 9));
}

TEST_F(LogOfCheckpoints, ComparesAsManyAsAreAskedFor)
{
    const auto one = log(source, {}, 1);
    EXPECT_EQ(one->comparison->compared, 1U);
    EXPECT_TRUE(changeAt(*one, 7).elements);
    EXPECT_FALSE(changeAt(*one, 3).elements);
    EXPECT_FALSE(changeAt(*one, 3).why.empty());
    EXPECT_FALSE(one->run.epochs.front().steps[1].changedVsPrevious);
}

TEST_F(LogOfCheckpoints, ComparesNoneUnaskedWithoutPayload)
{
    const auto none = log(source, {}, {}, Depth::Headers);
    EXPECT_EQ(none->comparison->compared, 0U);
    EXPECT_EQ(none->comparison->readBytes, 0U);
    EXPECT_FALSE(changeAt(*none, 7).elements);
}

/// What follows a run opens it and never compares.
TEST_F(LogOfCheckpoints, AreNotComparedByWhoOpensTheRun)
{
    const auto opened = viewOf<RunView>(service->openRun(source, Depth::Replayed));
    for (const StepView& step : opened->epochs.front().steps)
        EXPECT_FALSE(step.changedVsPrevious) << step.step;
}

TEST_F(LogOfCheckpoints, ThatCannotBeComparedSayWhy)
{
    const std::string file = "run/checkpoint-7/model.safetensors";
    const bool single = fs::exists(home.path(file));
    const std::string weights = single ? home.path(file) : checkpoint(7) + "/model.safetensors.index.json";
    fs::resize_file(weights, fs::file_size(weights) / 2);
    const auto view = log(source);
    EXPECT_EQ(view->comparison->compared, 1U);
    EXPECT_FALSE(changeAt(*view, 7).elements);
    EXPECT_FALSE(changeAt(*view, 7).why.empty());
    EXPECT_EQ(changeAt(*view, 3).elements, differing(1, 3));
}

TEST_F(LogOfCheckpoints, OfSomeTensorsCompareTheseAlone)
{
    const auto all = log(source, {}, 0);
    const auto some = log(source, { "*.down_proj.*" });
    EXPECT_EQ(some->comparison->compared, 2U);
    EXPECT_LT(some->comparison->readBytes, 40'000U);
    EXPECT_EQ(all->comparison->readBytes, 0U);
    EXPECT_LT(changeAt(*some, 7).elements, differing(3, 7));
    EXPECT_EQ(changeAt(*some, 7).tensors, 2U);
    EXPECT_EQ(log(source)->comparison->known, 0U) << "a part is not taken for all";
    EXPECT_EQ(changeAt(*log(source, { "*.down_proj.*" }), 7).elements, changeAt(*some, 7).elements);
    EXPECT_FALSE(some->run.epochs.front().steps.back().changedVsPrevious);
}

/// Checkpoints with one tensor "w" of four elements.
class LogOfForms : public LogJobs {
protected:
    void write(int number, const std::string& name, Dtype dtype, const std::string& bytes) const
    {
        home.write(fmt::format("made/checkpoint-{}/model.safetensors", number),
                   writeSafetensorsHeader({ { "v", Dtype::BF16, { 4 } }, { name, dtype, { 4 } } }, {}) + "11223344"
                       + bytes);
    }
    SourceRequest made() const
    {
        SourceRequest source;
        source.source = home.path("made");
        return source;
    }
    const std::string wide { "\0\0aa\0\0bb\0\0cc\0\0dd", 16 };
};

TEST_F(LogOfForms, SayWhyNothingWasComparedInsteadOfNoChange)
{
    write(1, "w", Dtype::BF16, "aabbccdd");
    write(2, "w", Dtype::F32, wide);
    write(3, "w", Dtype::F32, wide);
    write(4, "x", Dtype::F32, wide);
    const auto some = log(made(), { "[wx]" });
    EXPECT_EQ(changeAt(*some, 2).elements, std::nullopt);
    EXPECT_EQ(changeAt(*some, 2).bytes, std::nullopt);
    EXPECT_EQ(changeAt(*some, 2).why, "each tensor that is meant has another dtype or shape in step 2 than in step 1");
    EXPECT_EQ(changeAt(*some, 3).elements, 0U);
    EXPECT_EQ(changeAt(*some, 3).why, "");
    EXPECT_EQ(changeAt(*some, 4).elements, std::nullopt);
    EXPECT_EQ(changeAt(*some, 4).why, "no tensor of step 3 that is meant is one of step 4");
    const auto all = log(made());
    EXPECT_EQ(changeAt(*all, 2).elements, 0U) << "of the other tensor";
    EXPECT_EQ(changeAt(*all, 2).unlike, 1U);
}

TEST_F(LogOfCheckpoints, EndWhereTooMuchWouldBeRead)
{
    Workbench bench;
    bench.layouts = builtinLayouts();
    bench.nowUs = [] { return BucketCopy::BeginSeconds * 1'000'000; };
    TaskContext task;
    auto store = bench.stores->open(home.path("run"));
    ASSERT_TRUE(store);
    const auto run = openRun(bench, *store, {}, task);
    ASSERT_TRUE(run) << run.error().text;
    const TensorGlobs all;
    CheckpointChanges changes(bench, *run, all, UINT32_MAX);
    changes.limitReads(500'000); // one pair has 2 x 184,704 bytes
    ASSERT_TRUE(changes.compare(task));
    EXPECT_EQ(changes.view().compared, 1U);
    EXPECT_LE(changes.view().readBytes, 500'000U);
    EXPECT_TRUE(changes.steps()[2].elements);
    EXPECT_EQ(changes.steps()[1].why, "too much to read unasked");
}

}
} // namespace deltascope::app
