#include "lineage_runs.h"

// How a version is rebuilt.

namespace deltascope {
namespace {

using namespace lineage_test;

TEST(LineagePlan, StartsAtTheNearestCompleteAnchor)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).deltas(5, 7).build();
    const auto plan = planFor(run, step(run, 6));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 4, 5, 6 }));
    EXPECT_EQ(plan->deltas(), 2U);
    EXPECT_EQ(plan->readBytes, 300U);
}

TEST(LineagePlan, OfAnAnchorIsTheAnchorAlone)
{
    const auto run = RunOf().anchor(1).deltas(2, 3).anchor(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 4 }));
    EXPECT_EQ(plan->deltas(), 0U);
}

TEST(LineagePlan, GoesThroughPartialAnchors)
{
    const auto run = RunOf().anchor(1, 13).delta(2).anchor(3, 8).delta(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 2, 3, 4 }));
}

TEST(LineagePlan, FromAnExternalBaseCountsItsBytes)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    const auto plan = planFor(run, step(run, 2));
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->fromExternalBase);
    EXPECT_EQ(plan->deltas(), 2U);
    EXPECT_EQ(plan->readBytes, 300U);
}

TEST(LineagePlan, IsTheObstacleWhereThereIsOne)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).delta(3).build();
    const auto plan = planFor(run, step(run, 3));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error(), *step(run, 3).obstacle);
}

TEST(LineagePlan, AcrossAnUnprovenGapIsMadeAndMarked)
{
    const auto run = RunOf().anchor(1).delta(2).delta(4).build();
    const auto plan = planFor(run, step(run, 4));
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->acrossGap);
}

Run withProvenLoss()
{
    auto run = RunOf().anchor(1).deltas(2, 3).deltas(5, 6).build();
    for (const std::int64_t number : { 2, 3, 6 })
        step(run, number).facts = factsOf(1000);
    step(run, 5).facts = factsOf(1000, 90);
    assess(run);
    return run;
}

TEST(LineagePlan, AcrossAProvenLossIsRefused)
{
    const auto run = withProvenLoss();
    const auto plan = planFor(run, step(run, 6));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::ChainGap);
    EXPECT_EQ(plan.error().step, 5);
}

TEST(LineagePlan, AcrossAProvenLossIsMadeOnRequest)
{
    const auto run = withProvenLoss();
    const auto plan = planFor(run, step(run, 6), { .acrossGap = true });
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 2, 3, 5, 6 }));
    EXPECT_TRUE(plan->acrossGap);
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotExcuseABrokenStep)
{
    auto run = withProvenLoss();
    step(run, 3).failure = Error { Code::Truncated, "cut short", {}, {}, {} };
    assess(run);
    const auto plan = planFor(run, step(run, 6), { .acrossGap = true });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().step, 3);
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotExcuseAStepThatCannotBeRead)
{
    auto run = withProvenLoss();
    step(run, 5).failure = Error { Code::Truncated, "cut short", {}, {}, {} }; // beside its no-ops
    assess(run);
    EXPECT_FALSE(planFor(run, step(run, 6), { .acrossGap = true }));
}

TEST(LineagePlan, ARequestAcrossAGapDoesNotInventABase)
{
    const auto run = RunOf().deltas(7, 9).anchor(10).build();
    const auto plan = planFor(run, step(run, 9), { .acrossGap = true });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::ChainGap);
    EXPECT_NE(plan.error().text.find("step 6"), std::string::npos) << plan.error().text;
}

} // namespace
} // namespace deltascope
