#include "support/times.h"
#include "view/make_views.h"

#include "deltascope/engine/trace.h"

#include <gtest/gtest.h>

// What a run view says of replicas: which heartbeats are signs of life, and which steps a run knows.

namespace deltascope::app {
namespace {

using test::Begin;
using test::Second;

constexpr std::int64_t Minute = 60 * Second;

RunView runOf(std::int64_t first, std::int64_t last)
{
    RunView view;
    view.epochs.push_back({ 0, {} });
    for (std::int64_t number = first; number <= last; ++number) {
        StepView step;
        step.step = number;
        step.state = "complete";
        view.epochs[0].steps.push_back(step);
    }
    return view;
}

ReplicaView seen(const RunView& run, std::int64_t step, std::int64_t aheadUs = 0, double periodSeconds = 5,
                 std::int64_t saidForUs = 0, std::string state = "serving")
{
    Heartbeat heartbeat;
    heartbeat.id = "r0";
    heartbeat.state = std::move(state);
    heartbeat.step = step;
    heartbeat.tUs = Begin + aheadUs;
    heartbeat.periodSeconds = periodSeconds;
    heartbeat.stepSinceUs = Begin - saidForUs;
    Trace trace;
    trace.replicas = { heartbeat };
    RunView view = run;
    addTrace(view, trace, {}, Begin);
    return view.replicas.at(0);
}

TEST(Heartbeats, OfClocksFarAheadAndOfLongPeriodsAreNotBelieved)
{
    const RunView run = runOf(1, 15);
    const ReplicaView ahead = seen(run, 15, 6 * Minute);
    EXPECT_TRUE(ahead.late);
    EXPECT_NE(ahead.doubt.find("clock"), std::string::npos);
    const ReplicaView slow = seen(run, 15, -30 * 1440 * Minute, 1e12);
    EXPECT_TRUE(slow.late);
    EXPECT_NE(slow.doubt.find("period"), std::string::npos);
    for (const ReplicaView& sound : { seen(run, 15, 20 * Second), seen(run, 15, -900 * Second, 600) }) {
        EXPECT_FALSE(sound.late);
        EXPECT_EQ(sound.doubt, "");
        EXPECT_EQ(sound.behind, 0);
    }
}

TEST(Heartbeats, OfAStepThatTheRunDoesNotKnowAreForeignAfterAWhile)
{
    const RunView run = runOf(10, 15);
    const ReplicaView fresh = seen(run, 16, 0, 5, 29 * Second);
    EXPECT_FALSE(fresh.behind) << "the listing may be older";
    EXPECT_FALSE(fresh.foreign);
    const ReplicaView foreign = seen(run, 16, 0, 5, 30 * Second);
    EXPECT_TRUE(foreign.foreign);
    EXPECT_FALSE(foreign.behind);
    EXPECT_FALSE(foreign.lagging);
}

TEST(Heartbeats, OfAStepThatTheRunHadAreNotForeign)
{
    RunView run = runOf(10, 15);
    const ReplicaView pruned = seen(run, 4, 0, 5, 60 * Second);
    EXPECT_FALSE(pruned.foreign);
    EXPECT_EQ(pruned.behind, 6);
    run.events.push_back({ "DS-CHAIN-GAP", 16, {}, "step 16 was here, and is gone", {} });
    const ReplicaView gone = seen(run, 16, 0, 5, 60 * Second);
    EXPECT_FALSE(gone.foreign);
    EXPECT_EQ(gone.behind, 0);
    EXPECT_FALSE(seen(run, -1, 0, 5, 60 * Second).foreign) << "none yet";
}

TEST(Heartbeats, OfAReplicaThatStoppedAreNeitherBehindNorForeign)
{
    const RunView run = runOf(10, 15);
    for (const std::int64_t step : { 10, 15, 16, -1 }) {
        const ReplicaView stopped = seen(run, step, 0, 5, 60 * Second, "stopped");
        EXPECT_FALSE(stopped.behind) << step;
        EXPECT_FALSE(stopped.foreign) << step;
        EXPECT_FALSE(stopped.lagging) << step;
    }
    const ReplicaView running = seen(run, 10, 0, 5, 60 * Second);
    EXPECT_EQ(running.behind, 5);
    EXPECT_TRUE(running.lagging);
    EXPECT_TRUE(seen(run, 16, 0, 5, 60 * Second).foreign);
}

TEST(Heartbeats, OfAStepOfAnEarlierEpochAreBehindAllOfTheNewest)
{
    RunView run = runOf(1, 15);
    run.epochs.push_back({ 1, runOf(1, 5).epochs[0].steps });
    EXPECT_EQ(seen(run, 12).behind, 5);
    EXPECT_EQ(seen(run, 4).behind, 1);
}

} // namespace
} // namespace deltascope::app
