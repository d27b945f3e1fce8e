#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/engine/safetensors.h"

#include "service_fixture.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

// Values of one tensor at steps of a run, what they cost to read, and how all that is written.

namespace deltascope::app {
namespace {

using Json = nlohmann::json;

class StatisticsJobs : public ServiceFixture {
protected:
    static TensorRequest tensor(const BucketCopy& bucket, const std::string& version, const std::string& against = {},
                                const std::string& name = BucketCopy::Tensor)
    {
        return { { bucket.source(), version }, against, name };
    }
    TensorRequest tensor(const std::string& version, const std::string& against = {}) const
    {
        return tensor(bucket, version, against);
    }
    std::shared_ptr<const StatisticsView> statistics(const TensorRequest& request)
    {
        return viewOf<StatisticsView>(service->statistics(request));
    }
    std::shared_ptr<const StatisticsHistoryView> history(const TensorRequest& request, std::uint32_t steps)
    {
        return viewOf<StatisticsHistoryView>(service->statisticsHistory(request, steps));
    }
    std::shared_ptr<const StatisticsCostView> cost(const TensorRequest& request, std::uint32_t steps = 0)
    {
        return viewOf<StatisticsCostView>(service->statisticsCost(request, steps));
    }

    BucketCopy bucket { "trl-v2-gap" };
};

TEST_F(StatisticsJobs, CountTheElementsThatBlocksCount)
{
    const auto view = statistics(tensor("12"));
    const auto blocks = viewOf<BlocksView>(service->blocks(tensor("12"), 8));
    ASSERT_TRUE(view->a && view->moved);
    EXPECT_EQ(view->a->step, 11);
    EXPECT_EQ(view->b.step, 12);
    EXPECT_EQ(view->elements, blocks->total);
    EXPECT_EQ(view->b.finite, blocks->total);
    EXPECT_EQ(view->moved->changed, blocks->changed);
    EXPECT_EQ(std::accumulate(view->linear.b.begin(), view->linear.b.end(), std::uint64_t { 0 }), view->b.finite);
    EXPECT_EQ(std::accumulate(view->logarithmic.b.begin(), view->logarithmic.b.end(), std::uint64_t { 0 }),
              view->b.finite - view->b.zeros);
}

TEST_F(StatisticsJobs, SayAsMuchAsADiff)
{
    const auto view = statistics(tensor("12", "0:2"));
    const auto diff = viewOf<DiffView>(service->diff({ bucket.source(), "0:2" }, { bucket.source(), "12" }));
    const auto found = std::find_if(diff->tensors.begin(), diff->tensors.end(),
                                    [](const TensorDiffView& tensor) { return tensor.name == BucketCopy::Tensor; });
    ASSERT_NE(found, diff->tensors.end());
    EXPECT_EQ(view->moved->changed, found->different);
    EXPECT_EQ(view->moved->maxAbs, found->maxAbs);
    EXPECT_EQ(view->moved->signFlips, found->signFlips);
    ASSERT_FALSE(view->moved->ulp.empty());
    EXPECT_GE(view->moved->ulp.back().first, found->maxUlp);
    EXPECT_GT(view->moved->relativeNorm, 0);
}

TEST_F(StatisticsJobs, AreTheSameWithAnyNumberOfThreads)
{
    const auto view = statistics(tensor("12"));
    settings.cacheFolder = home.path("other-cache");
    settings.stateFolder = home.path("other-state");
    settings.threads = 1;
    startService();
    Json here = Json::parse(toJson(*view));
    Json there = Json::parse(toJson(*statistics(tensor("12"))));
    here.erase("seconds");
    there.erase("seconds");
    EXPECT_EQ(here, there);
}

TEST_F(StatisticsJobs, TheFirstStateIsComparedWithNothing)
{
    const auto view = statistics(tensor("1"));
    EXPECT_FALSE(view->a || view->moved);
    EXPECT_TRUE(view->linear.a.empty());
    const Json json = Json::parse(toJson(*view));
    EXPECT_TRUE(json["a"].is_null());
    EXPECT_TRUE(json["moved"].is_null());
}

TEST_F(StatisticsJobs, WhatIsMissingIsAnError)
{
    EXPECT_EQ(errorOf(service->statistics(tensor(bucket, "12", {}, "no.such.tensor"))).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->statisticsCost(tensor(bucket, "12", {}, "no.such.tensor"), 0)).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->statistics(tensor("99"))).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->statistics(tensor("12", "99"))).code, Code::NotFound);
}

// --- history ---------------------------------------------------------------------------------------------------------

class StatisticsHistoryOf : public StatisticsJobs, public testing::WithParamInterface<const char*> { };

TEST_P(StatisticsHistoryOf, ARunIsThatOfItsStepsOneByOne)
{
    const BucketCopy run(GetParam());
    const auto opened = viewOf<RunView>(service->openRun(run.source(), Depth::Headers));
    const auto detail = viewOf<StepDetailView>(service->showStep({ run.source(), "latest" }, Depth::Headers));
    const std::string name = detail->tensors.front().name;
    std::map<std::int64_t, Json> expected;
    for (const StepView& step : opened->epochs.back().steps) {
        if (step.restorable)
            expected[step.step] = Json::parse(
                toJson(*statistics(tensor(run, fmt::format("{}:{}", step.epoch, step.step), {}, name))))["b"];
    }
    ASSERT_GT(expected.size(), 2U);
    const auto view = history(tensor(run, "latest", {}, name), 50);
    const Json seen = Json::parse(toJson(*view))["steps"];
    ASSERT_EQ(seen.size(), expected.size());
    std::size_t at = 0;
    for (const auto& [step, values] : expected)
        EXPECT_EQ(seen[at++], values) << step;
}

INSTANTIATE_TEST_SUITE_P(Layouts, StatisticsHistoryOf,
                         testing::Values("trl-v2-gap", "trl-v2-partial-anchor", "trl-v2-drift-bf16", "slime-v2-xor",
                                         "trl-adapter"));

TEST_F(StatisticsJobs, AHistoryEndsAtTheStepAndIsAsLongAsWanted)
{
    const auto view = history(tensor("12"), 4);
    std::vector<std::int64_t> steps;
    for (const ValuesView& values : view->steps)
        steps.push_back(values.step);
    EXPECT_EQ(steps, (std::vector<std::int64_t> { 9, 10, 11, 12 }));
    EXPECT_EQ(cost(tensor("12"), 4)->steps, 4U);
}

// --- firsts ----------------------------------------------------------------------------------------------------------

/// A run of TRL with two tensors of four BF16 elements each, "v" and "w".
class MadeRun {
public:
    static constexpr const char* One = "\x80\x3f";
    static constexpr const char* Two = "\x40\x40";
    static constexpr const char* Nan = "\xc0\x7f";

    void anchor(int step, const std::string& w) const
    {
        auto facts = m_facts;
        facts["sparse"] = "False";
        put("anchors", step,
            writeSafetensorsHeader({ { "v", Dtype::BF16, { 4 } }, { "w", Dtype::BF16, { 4 } } }, facts) + "11223344"
                + w);
    }
    /// Sets one element.
    void delta(int step, const std::string& tensor, int position, const std::string& value) const
    {
        auto facts = m_facts;
        facts["sparse"] = "True";
        put("deltas", step,
            writeSafetensorsHeader({ { tensor + ".idx", Dtype::I32, { 1 } }, { tensor + ".val", Dtype::BF16, { 1 } } },
                                   facts)
                + std::string { static_cast<char>(position), 0, 0, 0 } + value);
    }
    TensorRequest w(const std::string& version) const
    {
        SourceRequest source;
        source.source = m_folder.path();
        return { { source, version }, {}, "w" };
    }

private:
    void put(const std::string& folder, int step, const std::string& bytes) const
    {
        m_folder.write(fmt::format("{}/step_{:06}.safetensors", folder, step), bytes);
    }

    std::map<std::string, std::string, std::less<>> m_facts = { { "format", "sparse_weight_patch" },
                                                                { "encoding", "raw" },
                                                                { "num_changed_params", "1" } };
    test::TempDir m_folder;
};

class TensorFirsts : public StatisticsJobs {
protected:
    TensorFirsts() { run.anchor(1, "aabbccdd"); }
    std::shared_ptr<const TensorFirstsView> firsts(const std::string& version)
    {
        return viewOf<TensorFirstsView>(service->tensorFirsts(run.w(version)));
    }

    MadeRun run;
};

TEST_F(TensorFirsts, AreFoundAtDeltas)
{
    run.delta(2, "v", 1, MadeRun::One);
    run.delta(3, "w", 1, MadeRun::One);
    run.delta(4, "w", 1, MadeRun::Nan);
    run.delta(5, "w", 1, MadeRun::Two);
    const auto view = firsts("5");
    EXPECT_EQ(view->changed.step, 3);
    EXPECT_TRUE(view->changed.certain);
    ASSERT_TRUE(view->nan);
    EXPECT_EQ(view->nan->step, 4);
    EXPECT_TRUE(view->nan->certain);
    EXPECT_TRUE(view->unread.empty());
    EXPECT_EQ(view->stepsRead, 5U);
    const auto early = firsts("2");
    EXPECT_EQ(early->changed.step, std::nullopt);
    EXPECT_TRUE(early->changed.certain && early->nan->certain);
    EXPECT_EQ(early->stepsInAll, 2U);
}

/// A step of training that only the anchor shows, as no delta comes with it.
TEST_F(TensorFirsts, AreFoundAtAnchors)
{
    run.delta(2, "v", 1, MadeRun::One);
    run.anchor(3, "aaxxccdd");
    run.anchor(4, std::string("aaxx") + MadeRun::Nan + "dd");
    run.delta(5, "w", 0, MadeRun::One);
    const auto view = firsts("5");
    EXPECT_EQ(view->changed.step, 3);
    EXPECT_EQ(view->nan->step, 4);
    EXPECT_EQ(view->stepsInAll, 5U);
}

/// Nothing behind the last answer is read: what stands there could not be.
TEST_F(TensorFirsts, EndWhereBothAreKnown)
{
    run.anchor(2, std::string("aaxx") + MadeRun::Nan + "dd");
    run.anchor(3, "aaxxccdd");
    run.delta(4, "w", 99, MadeRun::One);
    run.anchor(5, "aaxxccdd");
    const auto view = firsts("5");
    EXPECT_EQ(view->changed.step, 2);
    EXPECT_EQ(view->nan->step, 2);
    EXPECT_EQ(view->stepsRead, 2U);
    EXPECT_TRUE(view->unread.empty());
}

/// "First" is claimed only where everything before was read.
TEST_F(TensorFirsts, AreNotCertainBehindWhatCouldNotBeRead)
{
    run.delta(2, "w", 99, MadeRun::Nan); // no such position: the replay fails
    run.delta(3, "v", 0, MadeRun::One);
    run.anchor(4, std::string("aaxx") + MadeRun::Nan + "dd");
    const auto view = firsts("4");
    EXPECT_EQ(view->changed.step, 4);
    EXPECT_FALSE(view->changed.certain);
    EXPECT_EQ(view->nan->step, 4);
    EXPECT_FALSE(view->nan->certain);
    EXPECT_EQ(view->stepsRead, 2U);
    ASSERT_EQ(view->unread.size(), 1U);
    EXPECT_EQ(view->unread.front().first, 2);
    EXPECT_EQ(view->unread.front().last, 3);
    EXPECT_NE(view->unread.front().why.find("position"), std::string::npos) << view->unread.front().why;
}

TEST_F(TensorFirsts, ThatWereNotSeenAreNotDeniedWhereAStepIsMissing)
{
    run.delta(2, "v", 0, MadeRun::One);
    run.anchor(4, "aabbccdd");
    const auto view = firsts("4");
    EXPECT_EQ(view->changed.step, std::nullopt);
    EXPECT_FALSE(view->changed.certain);
    EXPECT_FALSE(view->nan->certain);
    ASSERT_EQ(view->unread.size(), 1U);
    EXPECT_EQ(view->unread.front().first, 3);
    EXPECT_EQ(view->unread.front().why, "no object has this number");
}

TEST_F(TensorFirsts, OnABaseBeginWithTheBase)
{
    const BucketCopy slime("slime-v2-xor");
    const auto view = viewOf<TensorFirstsView>(service->tensorFirsts(tensor(slime, "latest")));
    EXPECT_TRUE(view->onBase);
    EXPECT_EQ(view->changed.step, 1);
    EXPECT_TRUE(view->changed.certain);
    EXPECT_FALSE(view->nanInBase);
}

/// A run of plain checkpoints with a tensor of four elements, whose form or name may be another one at some steps.
class ValuesOfForms : public StatisticsJobs {
protected:
    void write(int number, const std::string& name, Dtype dtype, const std::string& bytes) const
    {
        m_made.write(fmt::format("checkpoint-{}/model.safetensors", number),
                     writeSafetensorsHeader({ { "v", Dtype::BF16, { 4 } }, { name, dtype, { 4 } } }, {}) + "11223344"
                         + bytes);
    }
    TensorRequest w(const std::string& version) const
    {
        SourceRequest source;
        source.source = m_made.path();
        return { { source, version }, {}, "w" };
    }
    std::shared_ptr<const TensorFirstsView> firsts(const std::string& version)
    {
        return viewOf<TensorFirstsView>(service->tensorFirsts(w(version)));
    }
    static std::vector<std::int64_t> stepsOf(const StatisticsHistoryView& view)
    {
        std::vector<std::int64_t> steps;
        for (const ValuesView& values : view.steps)
            steps.push_back(values.step);
        return steps;
    }
    const std::string wide { "\0\0aa\0\0bb\0\0cc\0\0dd", 16 };

private:
    test::TempDir m_made;
};

TEST_F(ValuesOfForms, BytesOfAnotherFormAreNoChange)
{
    write(1, "w", Dtype::BF16, "aabbccdd");
    write(2, "w", Dtype::F32, wide);
    write(3, "w", Dtype::BF16, "aabbccdd");
    const auto same = firsts("3");
    EXPECT_EQ(same->changed.step, std::nullopt);
    EXPECT_FALSE(same->changed.certain) << "step 2 tells nothing";
    EXPECT_EQ(same->dtype, "BF16");
    EXPECT_EQ(same->stepsRead, 2U);
    ASSERT_EQ(same->unread.size(), 1U);
    EXPECT_EQ(same->unread.front().first, 2);
    EXPECT_EQ(same->unread.front().why, "it has another type or shape there");
    write(4, "w", Dtype::BF16, "aaxxccdd");
    EXPECT_EQ(firsts("4")->changed.step, 4);
    EXPECT_FALSE(firsts("4")->changed.certain);
}

TEST_F(ValuesOfForms, OfOneFormAreComparedAsBefore)
{
    write(1, "w", Dtype::F32, wide);
    write(2, "w", Dtype::F32, wide);
    write(3, "w", Dtype::F32, wide.substr(0, 14) + "xx");
    const auto view = firsts("3");
    EXPECT_EQ(view->changed.step, 3);
    EXPECT_TRUE(view->changed.certain);
    EXPECT_TRUE(view->unread.empty());
    EXPECT_TRUE(history(w("3"), 3)->unread.empty());
}

TEST_F(ValuesOfForms, AHistoryListsStepsWithoutTheTensor)
{
    write(1, "w", Dtype::BF16, "aabbccdd");
    write(2, "x.w", Dtype::BF16, "aabbccdd");
    write(3, "w", Dtype::F32, wide);
    write(4, "w", Dtype::BF16, "aabbccdd");
    const auto view = history(w("4"), 4);
    EXPECT_EQ(stepsOf(*view), (std::vector<std::int64_t> { 1, 3, 4 }));
    ASSERT_EQ(view->unread.size(), 1U);
    EXPECT_EQ(view->unread.front().first, 2);
    EXPECT_EQ(view->unread.front().last, 2);
    EXPECT_NE(view->unread.front().why.find("w"), std::string::npos) << view->unread.front().why;
    EXPECT_EQ(Json::parse(toJson(*view))["unread"].size(), 1U);
    EXPECT_EQ(cost(w("4"), 4)->steps, 3U);
    EXPECT_EQ(stepsOf(*history(w("4"), 2)), (std::vector<std::int64_t> { 3, 4 }));
    EXPECT_TRUE(history(w("4"), 2)->unread.empty()) << "only of the steps that were asked for";
    EXPECT_EQ(errorOf(service->statisticsHistory(w("2"), 4)).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->statisticsCost(w("2"), 4)).code, Code::NotFound);
}

TEST_F(TensorFirsts, AreWrittenAsAgreed)
{
    const Json json = Json::parse(toJson(*firsts("1")));
    EXPECT_TRUE(json["first_changed"]["step"].is_null());
    EXPECT_EQ(json["first_changed"]["certain"], true);
    EXPECT_EQ(json["first_nan"]["certain"], true);
    EXPECT_EQ(json["steps_read"], 1);
    EXPECT_EQ(json["unread"], Json::array());
    auto request = run.w("1");
    request.tensor = "ww";
    const Error error = errorOf(service->tensorFirsts(request));
    EXPECT_EQ(error.code, Code::NotFound);
    EXPECT_EQ(error.step, 1);
}

/// At most what the cost says: each chain once, and of the tensor alone.
TEST_F(TensorFirsts, CostEachChainOnce)
{
    run.delta(2, "v", 1, MadeRun::One);
    run.delta(3, "w", 1, MadeRun::One);
    run.anchor(4, "aabbccdd");
    const auto view = viewOf<StatisticsCostView>(service->statisticsCost(run.w("4"), Service::AllSteps));
    EXPECT_EQ(view->readBytes, 8U + 4 + 2 + 8);
    EXPECT_EQ(view->steps, 4U);
}

// --- cost ------------------------------------------------------------------------------------------------------------

TEST_F(StatisticsJobs, TheCostOfAnAnchorIsItsTensorAndThatOfADeltaIsLittleMore)
{
    const auto first = cost(tensor("1"));
    EXPECT_EQ(first->readBytes, first->tensorBytes);
    EXPECT_EQ(first->steps, 1U);
    const auto delta = cost(tensor("2"));
    EXPECT_EQ(delta->steps, 2U);
    EXPECT_GT(delta->readBytes, 2 * first->tensorBytes);
    EXPECT_LT(delta->readBytes, 3 * first->tensorBytes);
}

TEST_F(StatisticsJobs, AHistoryReadsEachChainOnce)
{
    const auto alone = cost(tensor("9"), 1);
    const auto all = cost(tensor("9"), 9);
    EXPECT_EQ(all->readBytes, alone->readBytes);
    EXPECT_EQ(all->steps, 9U);
}

TEST_F(StatisticsJobs, TheCostOfTheTensorIsWhatIsReadOfIt)
{
    // One tensor of nine steps is far less than all of their objects.
    const auto view = cost(tensor("9"), 1);
    const auto opened = viewOf<RunView>(service->openRun(bucket.source(), Depth::Headers));
    std::uint64_t objects = 0;
    for (const StepView& step : opened->epochs.front().steps)
        objects += step.step <= 9 ? step.wireBytes : 0;
    EXPECT_LT(view->readBytes, objects / 4);
}

TEST_F(StatisticsJobs, AreWrittenAsAgreed)
{
    const Json json = Json::parse(toJson(*statistics(tensor("12"))));
    EXPECT_EQ(json["tensor"], BucketCopy::Tensor);
    EXPECT_EQ(json["dtype"], "BF16");
    EXPECT_EQ(json["b"]["percentiles"][0]["percent"], 0.1);
    EXPECT_EQ(json["b"]["percentiles"].size(), 5U);
    EXPECT_EQ(json["linear"]["edges"].size(), 65U);
    EXPECT_EQ(json["linear"]["a"].size(), 64U);
    EXPECT_EQ(json["moved"]["ulp"][0]["up_to"], 1);
    EXPECT_TRUE(json["moved"]["relative_norm"].is_number());
    const Json cost = Json::parse(toJson(*this->cost(tensor("12"))));
    EXPECT_TRUE(cost["read_bytes"].is_number_unsigned());
}

}
} // namespace deltascope::app
