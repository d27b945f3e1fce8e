#include "lineage_runs.h"

// Epochs, and which version is the latest.

namespace deltascope {
namespace {

using namespace lineage_test;

Run restarted()
{
    RunOf versions;
    for (std::int64_t number = 1; number <= 6; ++number)
        (number == 1 ? versions.anchor(number) : versions.delta(number)).at(LongAfter + number * Second);
    for (std::int64_t number = 7; number <= 12; ++number)
        (number == 10 ? versions.anchor(number) : versions.delta(number)).at(Begin + number * Second);
    return versions.build(LongAfter + 1000 * Second);
}

TEST(LineageEpochs, NothingIsChainedAcrossThem)
{
    const auto run = restarted();
    ASSERT_EQ(run.epochs(), 2);
    EXPECT_EQ(step(run, 7).epoch, 0);
    EXPECT_EQ(step(run, 6).epoch, 1);
    EXPECT_FALSE(step(run, 7).base);
    EXPECT_EQ(obstructed(run), Steps({ 7, 8, 9 }));
}

TEST(LineageEpochs, AForkIsAProblemThatNamesBothRuns)
{
    const auto run = restarted();
    const Error& fork = problem(run.problems, Code::Fork);
    EXPECT_EQ(fork.step, 7);
    EXPECT_NE(fork.text.find("steps 7-12"), std::string::npos) << fork.text;
    EXPECT_NE(fork.text.find("epoch 0"), std::string::npos);
}

TEST(LineageEpochs, AStepIsLookedForInTheNewestEpochThatHasIt)
{
    const auto run = restarted();
    EXPECT_EQ(run.find(3)->epoch, 1);
    EXPECT_EQ(run.find(8)->epoch, 0);
    EXPECT_EQ(run.find(8, 1), nullptr);
}

TEST(LineageEpochs, TheBreakBetweenThemIsNoGap) { EXPECT_TRUE(restarted().gaps.empty()); }

TEST(LineageLatest, IsTheNewestRestorableStepOfTheNewestEpoch) { EXPECT_EQ(restarted().latest()->step(), 6); }

TEST(LineageLatest, SkipsWhatIsStillBeingPublished)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).unreadable(4, Code::Truncated).build(Begin + 5 * Second);
    EXPECT_EQ(run.latest()->step(), 3);
}

TEST(LineageLatest, IsTheNewestStepWhereNoneCanBeRebuilt)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).deltaOn(2, 1).build();
    EXPECT_EQ(run.latest()->step(), 2);
}

} // namespace
} // namespace deltascope
