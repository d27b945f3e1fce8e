#include "lineage_runs.h"

// Kinds, links and gaps from names and headers alone.

namespace deltascope {
namespace {

using namespace lineage_test;

TEST(LineageKinds, AFullVersionIsAnAnchorWithoutBase)
{
    const auto run = RunOf().anchor(1).delta(2).build();
    EXPECT_EQ(step(run, 1).kind, VersionKind::Anchor);
    EXPECT_FALSE(step(run, 1).baseStep);
    EXPECT_FALSE(step(run, 1).base);
}

TEST(LineageKinds, ADeltaBuildsOnTheVersionBefore)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).build();
    EXPECT_EQ(step(run, 3).kind, VersionKind::Delta);
    EXPECT_EQ(step(run, 3).baseStep, 2);
    EXPECT_EQ(step(run, 3).base, 1U);
    EXPECT_FALSE(step(run, 3).acrossGap);
}

TEST(LineageKinds, AnAnchorWithFewerTensorsThanTheFirstIsPartial)
{
    const auto run = RunOf().anchor(1, 13).deltas(2, 9).anchor(10, 8).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::PartialAnchor);
    EXPECT_EQ(step(run, 10).baseStep, 9);
}

TEST(LineageKinds, TheProblemOfAPartialAnchorSaysHowManyTensorsItHolds)
{
    const auto run = RunOf().anchor(1, 13).deltas(2, 9).anchor(10, 8).build();
    const Error& partial = problem(step(run, 10).problems, Code::PartialAnchor);
    EXPECT_NE(partial.text.find("8 of 13"), std::string::npos) << partial.text;
    EXPECT_EQ(partial.step, 10);
}

TEST(LineageKinds, WithoutTheFirstAnchorTheLargestOneIsTheMeasure)
{
    const auto run = RunOf().anchor(10, 8).deltas(11, 19).anchor(20, 13).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::PartialAnchor);
    EXPECT_EQ(step(run, 20).kind, VersionKind::Anchor);
}

TEST(LineageKinds, APartialAnchorWithoutAStateBeforeCannotBeRebuilt)
{
    const auto run = RunOf().anchor(10, 8).delta(11).anchor(12, 13).build();
    EXPECT_EQ(obstructed(run), Steps({ 10, 11 }));
    EXPECT_EQ(step(run, 10).obstacle->code, Code::ChainGap);
}

TEST(LineageKinds, APlainCheckpointOfAnySizeStandsAlone)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0, 13).anchor(10, 8).build();
    EXPECT_EQ(step(run, 10).kind, VersionKind::Anchor);
    EXPECT_TRUE(obstructed(run).empty());
}

TEST(LineageKinds, NumbersBetweenPlainCheckpointsAreNoGaps)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0).anchor(10).anchor(30).build();
    EXPECT_TRUE(run.gaps.empty());
}

TEST(LineageKinds, PlainCheckpointsInAnyOrderOfTimeAreOneEpoch)
{
    const auto run = RunOf({ .standAlone = true }).anchor(0).at(Begin + 900 * Second).anchor(10).at(Begin).build();
    EXPECT_EQ(run.epochs(), 1);
}

TEST(LineageKinds, TheModelHasTheElementsOfItsFirstAnchor)
{
    const auto run = RunOf().anchor(1, 13).delta(2).anchor(3, 8).build();
    EXPECT_EQ(run.totalElementsOf(step(run, 2)), 1300U);
    EXPECT_EQ(run.totalElementsOf(step(run, 3)), 1300U);
}

TEST(LineageKinds, ADeltaWithoutTensorsIsANoop)
{
    const auto run = RunOf().anchor(1).delta(2, 0).build();
    EXPECT_EQ(step(run, 2).state, VersionState::Noop);
    EXPECT_FALSE(step(run, 2).obstacle);
}

TEST(LineageKinds, ARunWithoutVersionsIsEmpty)
{
    const auto run = RunOf().build();
    EXPECT_EQ(run.latest(), nullptr);
    EXPECT_EQ(run.find(1), nullptr);
    EXPECT_EQ(run.epochs(), 1);
}

TEST(LineageGaps, AMissingNumberIsAGap)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_EQ(run.gaps[0].first, 5);
    EXPECT_EQ(run.gaps[0].last, 5);
}

TEST(LineageGaps, SeveralMissingNumbersAreOneGap)
{
    const auto run = RunOf().anchor(1).delta(2).delta(9).build();
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_EQ(run.gaps[0].first, 3);
    EXPECT_EQ(run.gaps[0].last, 8);
}

TEST(LineageGaps, StepsBehindAGapAreUnprovenAndRestorable)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 4).proven);
    EXPECT_FALSE(step(run, 6).proven);
    EXPECT_FALSE(step(run, 7).proven);
    EXPECT_EQ(count(step(run, 7).problems, Code::Unproven), 1U);
}

TEST(LineageGaps, TheNextCompleteAnchorIsProvenAgain)
{
    const auto run = RunOf().anchor(1).delta(2).delta(4).anchor(5).delta(6).build();
    EXPECT_FALSE(step(run, 4).proven);
    EXPECT_TRUE(step(run, 5).proven);
    EXPECT_TRUE(step(run, 6).proven);
}

TEST(LineageGaps, APartialAnchorHealsNothing)
{
    const auto run = RunOf().anchor(1, 13).delta(2).delta(4).anchor(5, 8).delta(6).build();
    EXPECT_FALSE(step(run, 5).proven);
    EXPECT_FALSE(step(run, 6).proven);
}

TEST(LineageGaps, TheProblemNamesTheStepsThatDependOnTheGap)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 9).anchor(10).build();
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_EQ(gap.step, 5);
    EXPECT_NE(gap.text.find("steps 6-9"), std::string::npos) << gap.text;
    EXPECT_NE(gap.text.find("anchor at step 10"), std::string::npos) << gap.text;
}

TEST(LineageGaps, AGapRightBeforeAnAnchorConcernsNobody)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(5).build();
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_NE(gap.text.find("nothing else is affected"), std::string::npos) << gap.text;
    EXPECT_TRUE(step(run, 5).proven);
}

TEST(LineageGaps, ALostDeltaIsCalledLost)
{
    auto run = RunOf().anchor(1).deltas(2, 4).deltas(6, 7).build();
    for (const std::int64_t number : { 2, 3, 4, 7 })
        step(run, number).facts = factsOf(100);
    step(run, 6).facts = factsOf(100, 30);
    assess(run);
    EXPECT_NE(problem(run.problems, Code::ChainGap).text.find("is lost"), std::string::npos);
}

TEST(LineageGaps, AnUnfinishedStepBehindAGapDoesNotProveALoss)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).delta(6).unreadable(7, Code::Truncated).build(Begin + 8 * Second);
    ASSERT_EQ(obstructed(run), Steps({ 7 }));
    const Error& gap = problem(run.problems, Code::ChainGap);
    EXPECT_EQ(gap.text.find("is lost"), std::string::npos) << gap.text;
}

TEST(LineageGaps, ALaterBrokenStepBehindAGapDoesNotProveALoss)
{
    const auto run = RunOf().anchor(1).deltas(2, 4).delta(6).unreadable(7, Code::Hostile).build();
    EXPECT_EQ(problem(run.problems, Code::ChainGap).text.find("is lost"), std::string::npos);
}

} // namespace
} // namespace deltascope
