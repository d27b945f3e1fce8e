#include "deltascope/app/view/summary_view.h"

#include "run_views.h"

#include <algorithm>
#include <gtest/gtest.h>

// The tiles and the feed of the page Live, and what replicas have behind them.

namespace deltascope::app {
namespace {

RunSummaryView summaryOf(RunView run) { return makeRunSummary(snapshotOf(std::move(run))); }
KpiView kpiOf(RunView run) { return summaryOf(std::move(run)).kpi; }

/// Anchors at 0, 10, …; the deltas change 0.1 %, 0.2 %, … of the weights.
RunView usualRun(std::int64_t steps)
{
    std::vector<StepView> made;
    for (std::int64_t step = 0; step < steps; ++step) {
        made.push_back(stepView(step, step % 10 == 0 ? "anchor" : "delta"));
        made.back().restore.deltas = static_cast<std::uint64_t>(step % 10);
        if (made.back().kind == "delta")
            made.back().changedFraction = static_cast<double>(step) / 1000;
    }
    return runView({ made });
}

std::vector<StepView>& stepsOf(RunView& run) { return run.epochs.back().steps; }

// --- tiles -----------------------------------------------------------------------------------------------------------

TEST(Kpi, OfARunWithoutStepsIsUnknown)
{
    const KpiView kpi = kpiOf(runView({}));
    EXPECT_EQ(kpi.latest, std::nullopt);
    EXPECT_EQ(kpi.newest, std::nullopt);
    EXPECT_EQ(kpi.intervalSeconds, std::nullopt);
    EXPECT_EQ(kpi.deltaBytes, std::nullopt);
    EXPECT_EQ(kpi.ratio, std::nullopt);
    EXPECT_EQ(kpi.pauseMs, std::nullopt);
    EXPECT_EQ(kpi.pausedFraction, std::nullopt);
    EXPECT_EQ(kpi.worstLag, std::nullopt);
    EXPECT_EQ(kpi.verifiedTo, std::nullopt);
}

TEST(Kpi, OfARunThatIsOpenedIsUnknown)
{
    auto snapshot = std::make_shared<RunSnapshot>();
    snapshot->state = "opening";
    const RunSummaryView view = makeRunSummary(snapshot);
    EXPECT_EQ(view.kpi.latest, std::nullopt);
    EXPECT_EQ(view.steps, 0U);
    EXPECT_EQ(view.attention, 0U);
}

TEST(Kpi, TheLatestStepIsTheNewestThatCanBeRestored)
{
    RunView run = usualRun(24);
    stepsOf(run)[23].restorable = stepsOf(run)[22].restorable = false;
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.newest, 23);
    EXPECT_EQ(kpi.latest, 21);
    EXPECT_EQ(kpi.latestEpoch, 0);
    EXPECT_EQ(kpi.latestAtUs, stepsOf(run)[21].publishedUs);
    EXPECT_EQ(kpi.chainAnchor, 20);
    EXPECT_EQ(kpi.chainDeltas, 1U);
}

TEST(Kpi, TheNewestStepIsTheOneThatIsOffered)
{
    RunView run = usualRun(25);
    run.latest = 19; // 20 was rewritten since it was first seen
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.newest, 24);
    EXPECT_EQ(kpi.latest, 19);
    EXPECT_EQ(kpi.chainAnchor, 10);
}

TEST(Kpi, AChainWithoutAnAnchorOfItsOwnHasNone)
{
    const KpiView kpi = kpiOf(runView({ { stepView(1), stepView(2) } }));
    EXPECT_EQ(kpi.latest, 2);
    EXPECT_EQ(kpi.chainAnchor, std::nullopt);
}

TEST(Kpi, IsOfTheNewestEpoch)
{
    RunView run = runView({ usualRun(15).epochs[0].steps, { stepView(3, "anchor"), stepView(4) } });
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.newest, 4);
    EXPECT_EQ(kpi.latestEpoch, 1);
    EXPECT_EQ(kpi.chainAnchor, 3);
}

TEST(Kpi, TheIntervalIsAMedian)
{
    RunView run = usualRun(6);
    stepsOf(run)[5].publishedUs += test::Hour; // a break
    EXPECT_EQ(kpiOf(run).intervalSeconds, 10.0);
}

TEST(Kpi, MediansAreOverTheLastFifty)
{
    RunView run = usualRun(60);
    EXPECT_DOUBLE_EQ(kpiOf(run).changedFractionMedian.value_or(0), 0.035) << "of the deltas 11 … 59 without anchors";
    for (std::size_t i = 0; i < 10; ++i)
        stepsOf(run)[i].changedFraction = 0.9;
    EXPECT_DOUBLE_EQ(kpiOf(run).changedFractionMedian.value_or(0), 0.035) << "what is older counts no more";
    EXPECT_DOUBLE_EQ(kpiOf(run).changedFraction.value_or(0), 0.059);
}

TEST(Kpi, TheRatioIsOfTheNewestAnchorAndTheLatestDelta)
{
    RunView run = usualRun(14);
    stepsOf(run)[0].wireBytes = 1;
    stepsOf(run)[10].wireBytes = 2'000'000;
    stepsOf(run)[13].wireBytes = 8'000;
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.fullBytes, 2'000'000U);
    EXPECT_EQ(kpi.deltaBytes, 8'000U);
    EXPECT_EQ(kpi.ratio, 250.0);
}

TEST(Kpi, WithoutAnAnchorTheFullStepIsTheBase)
{
    RunView run = runView({ { stepView(1), stepView(2) } });
    EXPECT_EQ(kpiOf(run).ratio, std::nullopt);
    run.baseBytes = 500'000;
    EXPECT_EQ(kpiOf(run).fullBytes, 500'000U);
    EXPECT_EQ(kpiOf(run).ratio, 100.0);
}

TEST(Kpi, WhatIsStillBeingPublishedSaysNothingOfSizes)
{
    RunView run = usualRun(11);
    stepsOf(run)[9].state = stepsOf(run)[10].state = "publishing";
    stepsOf(run)[9].wireBytes = stepsOf(run)[10].wireBytes = 3;
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.deltaBytes, 5'000U);
    EXPECT_EQ(kpi.fullBytes, 1'000'000U);
}

TEST(Kpi, AnEmptyDeltaHasNoRatio)
{
    RunView run = usualRun(2);
    stepsOf(run)[1].wireBytes = 0;
    EXPECT_EQ(kpiOf(run).ratio, std::nullopt);
}

TEST(Kpi, PausesAreTheLastTheMedianAndTheRareOne)
{
    RunView run = usualRun(21); // 200 seconds from the first to the last publication
    for (std::int64_t step = 1; step <= 20; ++step)
        stepsOf(run)[static_cast<std::size_t>(step)].pauseMs = 100.0 * static_cast<double>(21 - step);
    stepsOf(run)[20].pauseMs.reset();
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.pauseMs, 200.0) << "of the latest step that has one";
    EXPECT_EQ(kpi.pauseP50Ms, 1100.0);
    EXPECT_EQ(kpi.pauseP95Ms, 1900.0);
    EXPECT_DOUBLE_EQ(kpi.pausedFraction.value_or(0), 20.9 / 200);
    stepsOf(run)[20].pauseMs = 180'000;
    EXPECT_EQ(kpiOf(run).pausedFraction, std::nullopt) << "longer than it all took: the times are those of a copy";
}

TEST(Kpi, VerifiedToStopsAtTheFirstStepThatWasNotChecked)
{
    const auto snapshot = snapshotOf(usualRun(6));
    for (const std::int64_t step : { 0, 1, 2, 4, 5 })
        snapshot->verified[{ 0, step }] = { 2, "verified", 0 };
    EXPECT_EQ(makeRunSummary(snapshot).kpi.verifiedTo, 2);
}

TEST(Kpi, VerifiedToStopsAtAStepThatIsNotSound)
{
    for (const char* result : { "damaged", "unverified", "incomplete" }) {
        const auto snapshot = snapshotOf(usualRun(6));
        for (std::int64_t step = 0; step < 6; ++step)
            snapshot->verified[{ 0, step }] = { 2, step == 4 ? result : "verified", 0 };
        EXPECT_EQ(makeRunSummary(snapshot).kpi.verifiedTo, 3) << result;
    }
}

TEST(Kpi, VerifiedToGoesOnWithTheNextAnchorBehindDamage)
{
    RunView run = usualRun(6);
    stepsOf(run)[4].kind = "anchor";
    const auto snapshot = snapshotOf(std::move(run));
    for (std::int64_t step = 0; step < 6; ++step)
        snapshot->verified[{ 0, step }] = { step < 4 ? 2 : 3,
                                            step == 2      ? "damaged"
                                                : step < 2 ? "first_sight"
                                                           : "verified",
                                            0 };
    const KpiView kpi = makeRunSummary(snapshot).kpi;
    EXPECT_EQ(kpi.verifiedTo, 5);
    EXPECT_EQ(kpi.verifiedLevel, 3) << "of this chain";
    EXPECT_EQ(kpi.verifiedResult, "verified") << "of this chain";
}

TEST(Kpi, VerifiedLevelIsTheLowestOnTheWay)
{
    const auto snapshot = snapshotOf(usualRun(4));
    const char* const results[] = { "first_sight", "consistent", "verified", "verified" };
    const int levels[] = { 4, 2, 3, 4 };
    for (std::size_t step = 0; step < 4; ++step)
        snapshot->verified[{ 0, static_cast<std::int64_t>(step) }] = { levels[step], results[step], 0 };
    const KpiView kpi = makeRunSummary(snapshot).kpi;
    EXPECT_EQ(kpi.verifiedTo, 3);
    EXPECT_EQ(kpi.verifiedLevel, 2);
    EXPECT_EQ(kpi.verifiedResult, "first_sight") << "the weakest";
}

TEST(Kpi, VerifiedToIsNothingIfTheFirstStepWasNotChecked)
{
    const auto snapshot = snapshotOf(usualRun(3));
    snapshot->verified[{ 0, 1 }] = { 4, "verified", 0 };
    const KpiView kpi = makeRunSummary(snapshot).kpi;
    EXPECT_EQ(kpi.verifiedTo, std::nullopt);
    EXPECT_EQ(kpi.verifiedLevel, std::nullopt);
    EXPECT_EQ(kpi.verifiedResult, "");
}

ReplicaView replica(std::string id, std::optional<std::int64_t> step, std::optional<std::int64_t> behind)
{
    ReplicaView view;
    view.id = std::move(id);
    view.state = "serving";
    view.step = step;
    view.behind = behind;
    return view;
}

TEST(Kpi, ReplicasInSyncServeTheNewestAndAreHeardOf)
{
    RunView run = usualRun(9);
    run.replicas = { replica("r0", 8, 0), replica("r1", 8, 0), replica("r2", 6, 2), replica("r3", 5, 3),
                     replica("r4", {}, {}) };
    run.replicas[1].late = true;
    const KpiView kpi = kpiOf(run);
    EXPECT_EQ(kpi.replicas, 5U);
    EXPECT_EQ(kpi.replicasInSync, 1U);
    EXPECT_EQ(kpi.worstReplica, "r3");
    EXPECT_EQ(kpi.worstLag, 3);
    run.replicas[0].state = "poisoned";
    EXPECT_EQ(kpiOf(run).replicasInSync, 0U);
    run.replicas[0].state = "digest-mismatch";
    EXPECT_EQ(kpiOf(run).replicasInSync, 0U);
    run.replicas[3].state = "stopped";
    EXPECT_EQ(kpiOf(run).replicas, 4U);
    EXPECT_EQ(kpiOf(run).worstReplica, "r2");
}

// --- summary ---------------------------------------------------------------------------------------------------------

TEST(RunSummary, CountsWhatAllEpochsHold)
{
    const RunSummaryView view = summaryOf(
        runView({ { stepView(0, "anchor"), stepView(1), gapStep(2, 4), stepView(5), stepView(6, "partial_anchor") },
                  { stepView(3, "anchor") } }));
    EXPECT_EQ(view.steps, 5U);
    EXPECT_EQ(view.anchors, 2U);
    EXPECT_EQ(view.deltas, 2U);
    EXPECT_EQ(view.gaps, 1U);
}

TEST(RunSummary, TheSparkIsOfTheLastSixtyAndHasHolesAtAnchors)
{
    RunView run = usualRun(75);
    stepsOf(run)[74].changedFraction.reset();
    const RunSummaryView view = summaryOf(run);
    ASSERT_EQ(view.spark.size(), 60U);
    EXPECT_EQ(view.spark[0], 0.015);
    EXPECT_EQ(view.spark[5], std::nullopt) << "the anchor 20";
    EXPECT_EQ(view.spark[58], 0.073);
    EXPECT_EQ(view.spark[59], std::nullopt) << "not replayed";
    EXPECT_EQ(summaryOf(usualRun(3)).spark.size(), 3U);
}

TEST(RunSummary, WhatIsWorseComesFirst)
{
    const auto attention = [](auto change) {
        RunView run = usualRun(9);
        RunSnapshot snapshot = *snapshotOf(run);
        change(snapshot, run);
        offerNewest(run);
        snapshot.run = std::make_shared<const RunView>(run);
        return makeRunSummary(std::make_shared<const RunSnapshot>(snapshot)).attention;
    };
    const std::vector<std::uint64_t> ascending {
        attention([](RunSnapshot&, RunView&) {}),
        attention([](RunSnapshot& snapshot, RunView&) {
            snapshot.alertsFiring = 1;
            snapshot.worstAlert = "info";
        }),
        attention([](RunSnapshot&, RunView& run) { run.replicas = { replica("r", 5, 3) }; }),
        attention([](RunSnapshot& snapshot, RunView&) {
            snapshot.alertsFiring = 1;
            snapshot.worstAlert = "warn";
        }),
        attention([](RunSnapshot&, RunView& run) { stepsOf(run).back().restorable = false; }),
        attention([](RunSnapshot& snapshot, RunView&) {
            snapshot.alertsFiring = 1;
            snapshot.worstAlert = "error";
        }),
        attention([](RunSnapshot& snapshot, RunView&) { snapshot.state = "error"; }),
    };
    EXPECT_EQ(ascending[0], 0U);
    EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end(), std::less_equal())) << "each more than the last";
}

TEST(RunSummary, ALagOfTwoNeedsNoAttention)
{
    RunView run = usualRun(9);
    run.replicas = { replica("r", 6, 2) };
    EXPECT_EQ(summaryOf(run).attention, 0U);
}

// --- replicas --------------------------------------------------------------------------------------------------------

/// Times in milliseconds behind the publication of `step`.
SpanView spanOf(std::string actor, std::string phase, std::int64_t step, std::int64_t t0, std::int64_t t1)
{
    const std::int64_t publishedUs = stepView(step).publishedUs;
    return { std::move(actor), std::move(phase), 0, step, publishedUs + t0 * 1000, publishedUs + t1 * 1000, 0 };
}

ReplicaHistoryView historyOf(const RunView& run, std::int64_t nowUs)
{
    const std::vector<ReplicaHistoryView> views = makeReplicaHistory(run, nowUs);
    return views.size() == 1 ? views[0] : ReplicaHistoryView();
}

using Lags = std::vector<std::uint64_t>;

TEST(ReplicaHistory, LagsAreThoseAtEachPublicationAndNow)
{
    RunView run = usualRun(6);
    run.replicas = { replica("r", 5, 0) };
    run.spans = { spanOf("r", "pause", 0, 1000, 1500), spanOf("r", "pause", 1, 1000, 1500),
                  spanOf("r", "pause", 4, 1000, 1500), spanOf("r", "pause", 5, 1000, 1500) };
    // When 1 came, 0 was served; at 2 it was 1, and still at 3 and 4; at 5 it was 4.
    EXPECT_EQ(historyOf(run, test::Begin).lagHistory, (Lags { 0, 0, 1, 2, 0, 0 }));
}

TEST(ReplicaHistory, BehindTheLastSpanTheHeartbeatAloneTells)
{
    RunView run = usualRun(8);
    run.replicas = { replica("r", 7, 0) };
    run.spans = { spanOf("r", "pause", 1, 1000, 1500), spanOf("r", "pause", 2, 1000, 1500) };
    EXPECT_EQ(historyOf(run, test::Begin).lagHistory, (Lags { 0, 0 })) << "at 2, and now; 3 … 7 are not known";
    EXPECT_EQ(historyOf(run, test::Begin).lagSteps, (std::vector<std::int64_t> { 2, 7 }));
}

TEST(ReplicaHistory, WithoutSpansAndHeartbeatNothingIsKnown)
{
    RunView run = usualRun(8);
    run.replicas = { replica("r", {}, {}) };
    const ReplicaHistoryView view = historyOf(run, test::Begin);
    EXPECT_TRUE(view.lagHistory.empty());
    EXPECT_EQ(view.lagSeconds, std::nullopt);
    EXPECT_EQ(view.lastPauseMs, std::nullopt);
    EXPECT_EQ(view.pausedFraction, std::nullopt);
}

TEST(ReplicaHistory, IsOfItsOwnSpans)
{
    RunView run = usualRun(4);
    run.replicas = { replica("r", 3, 0) };
    run.spans = { spanOf("other", "pause", 1, 0, 500), spanOf("other", "pause", 3, 0, 500) };
    const ReplicaHistoryView view = historyOf(run, test::Begin);
    EXPECT_EQ(view.lagHistory, Lags { 0 });
    EXPECT_EQ(view.lastPauseMs, std::nullopt);
}

TEST(ReplicaHistory, ReachesBackSixtySteps)
{
    RunView run = usualRun(100);
    run.replicas = { replica("r", 99, 0) };
    for (std::int64_t step = 0; step < 100; ++step)
        run.spans.push_back(spanOf("r", "pause", step, 1000, 1500));
    EXPECT_EQ(historyOf(run, test::Begin).lagHistory.size(), 61U) << "and now";
}

TEST(ReplicaHistory, TheLagInSecondsIsSinceTheFirstMissedPublication)
{
    RunView run = usualRun(9);
    run.replicas = { replica("r", 5, 3) };
    const std::int64_t nowUs = stepsOf(run)[8].publishedUs + 4 * test::Second;
    EXPECT_EQ(historyOf(run, nowUs).lagSeconds, 24.0) << "since 6";
    run.replicas = { replica("r", 8, 0) };
    EXPECT_EQ(historyOf(run, nowUs).lagSeconds, std::nullopt);
}

TEST(ReplicaHistory, WhatIsStillBeingPublishedWasNotMissed)
{
    RunView run = usualRun(9);
    stepsOf(run)[7].state = "publishing";
    run.replicas = { replica("r", 6, 1) };
    EXPECT_EQ(historyOf(run, stepsOf(run)[8].publishedUs + test::Second).lagSeconds, 1.0);
}

TEST(ReplicaHistory, PausesAreTheLastOneAndTheShareOfTheHour)
{
    RunView run = usualRun(3);
    run.replicas = { replica("r", 2, 0) };
    run.spans = { spanOf("r", "fetch", 0, 0, 9000), spanOf("r", "pause", 0, 9000, 9500),
                  spanOf("r", "pause", 2, 0, 1500) };
    const ReplicaHistoryView view = historyOf(run, test::Begin + 40 * test::Second);
    EXPECT_EQ(view.lastPauseMs, 1500.0);
    EXPECT_DOUBLE_EQ(view.pausedFraction.value_or(0), 2.0 / 40) << "since its first span";
}

TEST(ReplicaHistory, OfAPauseAnHourAgoOnlyTheRestCounts)
{
    RunView run = usualRun(3);
    run.replicas = { replica("r", 2, 0) };
    run.spans = { spanOf("r", "pause", 0, 0, 10'000), spanOf("r", "pause", 1, 0, 36'000) };
    const std::int64_t nowUs = stepView(1).publishedUs + 3610 * test::Second; // the hour began 10 s into the second
    EXPECT_DOUBLE_EQ(historyOf(run, nowUs).pausedFraction.value_or(0), 26.0 / 3600);
}

// --- feed ------------------------------------------------------------------------------------------------------------

std::vector<std::string> kindsOf(const std::vector<FeedItemView>& feed)
{
    std::vector<std::string> kinds;
    for (const FeedItemView& item : feed)
        kinds.push_back(item.kind);
    return kinds;
}

TEST(Feed, IsNewestFirst)
{
    RunView run = usualRun(3);
    stepsOf(run)[2].problems = { { "DS-DIGEST", 2, "object", "a digest differs", "look" } };
    run.spans = { spanOf("r0", "fetch", 1, 0, 400), spanOf("r0", "pause", 1, 500, 1700) };
    run.notes = { { "r0", 1, stepsOf(run)[1].publishedUs + 100, "coalesced" }, { "log", {}, {}, "no time" } };
    const std::vector<FeedItemView> feed = makeFeed(run, 100);
    EXPECT_EQ(kindsOf(feed),
              (std::vector<std::string> { "published", "problem", "applied", "note", "published", "published" }));
    EXPECT_TRUE(std::is_sorted(feed.begin(), feed.end(),
                               [](const FeedItemView& a, const FeedItemView& b) { return a.tUs > b.tUs; }));
    EXPECT_EQ(feed[0].text, "step 2 published, delta, 0.2 % changed");
    EXPECT_EQ(feed[1].text, "DS-DIGEST: a digest differs");
    EXPECT_EQ(feed[2].text, "r0 says that it applied 1, paused 1200 ms");
    EXPECT_EQ(feed[3].text, "r0: coalesced");
    EXPECT_EQ(feed[5].text, "step 0 published, anchor");
}

TEST(Feed, KeepsTheNewest)
{
    RunView run = usualRun(30);
    for (std::int64_t step = 0; step < 30; ++step)
        run.spans.push_back(spanOf("r0", "pause", step, 100, 200));
    const std::vector<FeedItemView> feed = makeFeed(run, 5);
    ASSERT_EQ(feed.size(), 5U);
    EXPECT_EQ(kindsOf(feed), (std::vector<std::string> { "applied", "published", "applied", "published", "applied" }));
    EXPECT_EQ(feed[0].step, 29);
    EXPECT_EQ(feed[4].step, 27);
}

TEST(Feed, StepsOfOneTimeAreTheNewestFirst)
{
    RunView run = usualRun(3);
    for (StepView& step : run.epochs.back().steps)
        step.publishedUs = test::Begin;
    const std::vector<FeedItemView> feed = makeFeed(run, 9);
    ASSERT_EQ(feed.size(), 3U);
    EXPECT_EQ(feed[0].step, 2);
    EXPECT_EQ(feed[2].step, 0);
}

TEST(Feed, HoldsNoGaps)
{
    EXPECT_EQ(makeFeed(runView({ { stepView(1, "anchor"), gapStep(2, 5), stepView(6) } }), 9).size(), 2U);
}

} // namespace
} // namespace deltascope::app
