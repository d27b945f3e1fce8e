#include "lineage_runs.h"

// What no-ops prove, and what they make doubtful.

namespace deltascope {
namespace {

using namespace lineage_test;

Run judged(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& deltas)
{
    auto run = RunOf().anchor(1).deltas(2, 1 + static_cast<std::int64_t>(deltas.size())).build();
    for (std::size_t i = 0; i < deltas.size(); ++i)
        run.versions[i + 1].facts = factsOf(deltas[i].first, deltas[i].second);
    assess(run);
    return run;
}

TEST(LineageNoops, MoreThanTheWriterHasElsewhereProvesALoss)
{
    const auto run = judged({ { 576, 0 }, { 398, 0 }, { 329, 0 }, { 290, 0 }, { 277, 8 }, { 252, 6 } });
    EXPECT_EQ(obstructed(run), Steps({ 6, 7 }));
    EXPECT_TRUE(step(run, 6).lossProven);
    EXPECT_EQ(step(run, 6).obstacle->code, Code::ChainGap);
    EXPECT_NE(step(run, 6).obstacle->text.find("8 of 277"), std::string::npos) << step(run, 6).obstacle->text;
}

TEST(LineageNoops, WhatIsCountedBehindAProvenLossIsNoCountOfTheWriter)
{
    auto run = judged({ { 576, 0 }, { 398, 0 }, { 329, 0 }, { 290, 0 }, { 277, 8 }, { 252, 6 } });
    for (const Version& version : run.versions)
        EXPECT_EQ(run.countsOnItsBase(version), version.step() < 6) << version.step();
    step(run, 7).summary->encoding = "xor";
    EXPECT_TRUE(run.countsOnItsBase(step(run, 7))) << "a mask changes the same elements of any state";
    step(run, 3).facts->damage = Error { Code::Truncated, "it is cut", {}, 3, {} };
    assess(run);
    EXPECT_TRUE(run.countsOnItsBase(step(run, 4))) << "nothing is proven to be lost in front of it";
}

TEST(LineageNoops, ALossThatALaterDeltaProvesIsPlacedAtTheMissingNumber)
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 6).build();
    for (const std::int64_t number : { 2, 3, 5 })
        step(run, number).facts = factsOf(1000);
    step(run, 6).facts = factsOf(1000, 90);
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 6 }));
    EXPECT_NE(step(run, 6).obstacle->text.find("between step 3 and it"), std::string::npos);
    EXPECT_FALSE(step(run, 5).proven);
}

TEST(LineageNoops, OneInASoundChainProvesNothing)
{
    const auto run = judged({ { 661, 0 }, { 600, 0 }, { 500, 1 }, { 450, 0 }, { 350, 0 } });
    EXPECT_TRUE(obstructed(run).empty());
    for (const Version& version : run.versions)
        EXPECT_TRUE(version.proven) << version.step();
}

TEST(LineageNoops, AnEarlyLossIsNoHabitOfTheWriter)
{
    // trl-v2-gap up to step 9, where an empty delta stands in place of delta 3: most steps stand behind the loss
    const auto run =
        judged({ { 1494, 0 }, { 0, 0 }, { 900, 66 }, { 854, 40 }, { 841, 22 }, { 762, 25 }, { 710, 14 }, { 725, 7 } });
    EXPECT_EQ(obstructed(run), Steps({ 4, 5, 6, 7, 8, 9 }));
    EXPECT_EQ(step(run, 9).obstacleAt, 3U);
}

TEST(LineageNoops, WithoutAHabitManyProveALossAndFewNothing)
{
    EXPECT_EQ(obstructed(judged({ { 1029, 139 } })), Steps({ 2 }));
    const auto run = judged({ { 1618, 7 } });
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_FALSE(step(run, 2).proven);
}

TEST(LineageNoops, BetweenHabitAndProofTheStepsAreUnprovenUpToTheNextAnchor)
{
    auto run = RunOf().anchor(1).deltas(2, 5).anchor(6).delta(7).build();
    for (const std::int64_t number : { 2, 3, 5, 7 })
        step(run, number).facts = factsOf(500);
    step(run, 4).facts = factsOf(300, 5);
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 3).proven);
    EXPECT_FALSE(step(run, 4).proven);
    EXPECT_TRUE(step(run, 4).noopsUnexplained);
    EXPECT_NE(problem(step(run, 4).problems, Code::Unproven).text.find("5 of 300"), std::string::npos);
    EXPECT_FALSE(step(run, 5).proven);
    EXPECT_NE(problem(step(run, 5).problems, Code::Unproven).text.find("builds on step 4"), std::string::npos);
    EXPECT_TRUE(step(run, 6).proven);
    EXPECT_TRUE(step(run, 7).proven);
}

TEST(LineageNoops, LaterSegmentsAreHabitForTheFirstDelta)
{
    auto run = RunOf().anchor(1).delta(2).anchor(3).deltas(4, 8).build();
    step(run, 2).facts = factsOf(1618, 7);
    for (const std::int64_t number : { 4, 5, 6, 7, 8 })
        step(run, number).facts = factsOf(900, 6);
    assess(run);
    EXPECT_TRUE(step(run, 2).proven);
    EXPECT_EQ(usualNoops(run), (NoopCounts { 37, 6118 }));
}

TEST(LineageNoops, WhatStandsBehindAProofIsNoHabitForOtherSegments)
{
    // the second loss alone would be explained by the deltas behind the first one
    auto run = RunOf().anchor(1).deltas(2, 12).anchor(13).deltas(14, 15).build();
    for (std::int64_t number = 2; number <= 12; ++number)
        step(run, number).facts = number <= 6 ? factsOf(1000) : factsOf(1000, 30);
    step(run, 14).facts = factsOf(1000);
    step(run, 15).facts = factsOf(300, 8);
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 7, 8, 9, 10, 11, 12, 15 }));
    EXPECT_EQ(usualNoops(run), (NoopCounts { 0, 6000 }));
}

TEST(LineageNoops, ALossInTheFirstSegmentIsProvenByAHabitThatALaterProofHasCleaned)
{
    // tested in order, the first segment meets a habit that the second loss spoils; that one is proven by its own front
    auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).deltas(5, 20).build();
    step(run, 2).facts = factsOf(300);
    step(run, 3).facts = factsOf(300, 12);
    for (std::int64_t number = 5; number <= 20; ++number)
        step(run, number).facts = number <= 12 ? factsOf(500) : factsOf(500, 40);
    assess(run);
    EXPECT_TRUE(step(run, 3).lossProven);
    EXPECT_TRUE(step(run, 13).lossProven);
}

TEST(LineageNoops, TheNaturalRateOfAWriterProvesNothing)
{
    // a real run of the newest TRL writer on bf16 parameters
    const auto run = judged({ { 1618, 7 },
                              { 1077, 4 },
                              { 838, 5 },
                              { 669, 3 },
                              { 542, 5 },
                              { 470, 5 },
                              { 448, 3 },
                              { 434, 3 },
                              { 411, 4 },
                              { 403, 3 } });
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(usualNoops(run), (NoopCounts { 42, 6910 }));
}

TEST(LineageNoops, AJumpAboveTheNaturalRateProvesALoss)
{
    const auto run = judged({ { 1618, 7 }, { 1077, 4 }, { 838, 5 }, { 669, 3 }, { 542, 90 } });
    EXPECT_EQ(obstructed(run), Steps({ 6 }));
}

TEST(LineageNoops, TheNaturalRateIsToldOnceForTheRun)
{
    const auto run = judged({ { 1000, 7 }, { 1000, 5 }, { 1000, 6 } });
    const Error& noop = problem(run.problems, Code::Noop);
    EXPECT_NE(noop.text.find("18 of 3000"), std::string::npos) << noop.text;
}

TEST(LineageNoops, ARunWithoutThemHasNoSuchProblem)
{
    EXPECT_EQ(count(judged({ { 1000, 0 }, { 1000, 0 } }).problems, Code::Noop), 0U);
}

TEST(LineageNoops, DeltasBehindAGapDoNotShapeTheRate)
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 9).build();
    for (const std::int64_t number : { 2, 3 })
        step(run, number).facts = factsOf(1000);
    for (const std::int64_t number : { 5, 6, 7, 8, 9 })
        step(run, number).facts = factsOf(1000, 30);
    assess(run);
    EXPECT_EQ(usualNoops(run), (NoopCounts { 0, 2000 }));
    EXPECT_EQ(obstructed(run), Steps({ 5, 6, 7, 8, 9 }));
    EXPECT_EQ(step(run, 9).obstacleAt, 3U);
}

TEST(LineageNoops, AnUnprovenStepWithoutThemStaysRestorable)
{
    auto run = RunOf().anchor(1).deltas(2, 3).delta(5).build();
    for (const std::int64_t number : { 2, 3, 5 })
        step(run, number).facts = factsOf(1000);
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_FALSE(step(run, 5).proven);
}

TEST(LineageNoops, WithMatchingDigestsTheyProveNothing)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    for (const std::int64_t number : { 1, 2 }) {
        step(run, number).facts = factsOf(100, 50);
        step(run, number).facts->digestsChecked = 2;
    }
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
}

} // namespace
} // namespace deltascope
