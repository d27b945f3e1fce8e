#include "lineage/base_first.h"
#include "lineage_runs.h"

// What versions say that they build on.

namespace deltascope {
namespace {

using namespace lineage_test;

TEST(LineageDeclaredBase, AMissingDeclaredBaseIsAnObstacleThatNamesIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).deltaOn(4, 3).build();
    EXPECT_EQ(obstructed(run), Steps({ 4 }));
    EXPECT_EQ(step(run, 4).obstacle->code, Code::ChainGap);
    EXPECT_NE(step(run, 4).obstacle->text.find("step 3"), std::string::npos);
    EXPECT_EQ(step(run, 4).baseStep, 3);
}

TEST(LineageDeclaredBase, ABaseAcrossAMissingNumberIsNoGapInTheChain)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(3, 1).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 3).proven);
    EXPECT_EQ(step(run, 3).base, 0U);
}

TEST(LineageDeclaredBase, AnEarlierVersionThatIsThereIsNotCalledMissing)
{
    const auto run = RunOf({ .needsExternalBase = true })
                         .withBase()
                         .deltaOn(1, 0)
                         .deltaOn(2, 1)
                         .deltaOn(3, 1) // a branch: written against step 1, not step 2
                         .build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(step(run, 3).base, 0U);
    const auto plan = planFor(run, step(run, 3));
    ASSERT_TRUE(plan);
    EXPECT_EQ(stepsOf(run, *plan), Steps({ 1, 3 }));
}

TEST(LineagePartialAnchor, WithoutTheFirstFullVersionNothingProvesThatAnAnchorIsWhole)
{
    const auto speaks = [](const deltascope::Run& run) {
        return std::count_if(run.problems.begin(), run.problems.end(),
                             [](const Error& problem) { return problem.code == Code::PartialAnchor; });
    };
    const auto pruned = RunOf().anchor(11, 3).delta(12).anchor(21, 4).build();
    ASSERT_EQ(speaks(pruned), 1);
    EXPECT_NE(pruned.problems.front().text.find("step 21 with its 4 tensors"), std::string::npos)
        << pruned.problems.front().text;
    EXPECT_EQ(speaks(RunOf().anchor(1).delta(2).anchor(11).build()), 0);
    EXPECT_EQ(speaks(RunOf({ .standAlone = true }).anchor(10).anchor(20).build()), 0);
    EXPECT_EQ(speaks(RunOf({ .needsExternalBase = true }).withBase().anchor(4).build()), 0);
}

TEST(LineageExternalBase, WithoutItEveryStepNamesTheMissingBase)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).deltaOn(2, 1).deltaOn(3, 2).build();
    EXPECT_EQ(obstructed(run), Steps({ 1, 2, 3 }));
    for (const Version& version : run.versions)
        EXPECT_EQ(version.obstacle->code, Code::BaseMissing);
    EXPECT_EQ(step(run, 3).obstacleAt, 0U);
}

TEST(LineageExternalBase, AFullVersionFreesTheStepsBehindIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).deltaOn(1, 0).anchor(2).deltaOn(3, 2).build();
    EXPECT_EQ(obstructed(run), Steps({ 1 }));
}

TEST(LineageExternalBase, WithItTheFirstDeltaStandsOnIt)
{
    const auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(step(run, 1).onExternalBase);
    EXPECT_FALSE(step(run, 2).onExternalBase);
    EXPECT_EQ(run.totalElementsOf(step(run, 2)), 400U);
}

TEST(LineageExternalBase, IsNotWhatALaterRunHasWrittenOver)
{
    for (const bool declares : { true, false }) {
        RunOf versions({ .needsExternalBase = true });
        versions.withBase();
        for (std::int64_t number = 1; number <= 5; ++number) {
            declares ? versions.deltaOn(number, number - 1) : versions.delta(number);
            versions.at((number <= 3 ? LongAfter : Begin) + number * Second);
        }
        const auto run = versions.build(LongAfter + 1000 * Second);
        ASSERT_EQ(run.epochs(), 2);
        EXPECT_TRUE(step(run, 1).onExternalBase);
        EXPECT_FALSE(step(run, 4).onExternalBase);
        EXPECT_EQ(obstructed(run), Steps({ 4, 5 }));
    }
}

TEST(LineageExternalBase, IsNoStartOfAChainWhereTheLayoutBringsItsOwn)
{
    const auto run = RunOf().withBase().delta(5).delta(6).anchor(7).delta(8).build();
    EXPECT_EQ(obstructed(run), Steps({ 5, 6 }));
    EXPECT_EQ(step(run, 5).obstacle->code, Code::ChainGap);
    EXPECT_FALSE(step(run, 5).onExternalBase);
}

TEST(LineageExternalBase, DigestsThatMostlyFailOnItSpeakAgainstIt)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 9;
    facts.firstFailedTensor = "a";
    step(run, 1).facts = facts;
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 1, 2 }));
    EXPECT_EQ(step(run, 1).obstacle->code, Code::BaseMismatch);
    EXPECT_EQ(step(run, 2).obstacle->code, Code::BaseMismatch);
}

TEST(LineageNotes, AnUnfinishedStepThatIsNoVersionIsAProblemOfTheRun)
{
    auto run = RunOf({ .standAlone = true }).anchor(1).anchor(2).build();
    step(run, 2).objects.notes = { Error { Code::Unfinished, "cut short", "step-3", 3, {} },
                                   Error { Code::Unfinished, "cut short", "step_2", 2, {} } };
    assess(run);
    ASSERT_EQ(layout_test::countNotes(run.problems, Code::Unfinished), 1U);
    EXPECT_EQ(run.problems[0].step, 3);
    ASSERT_EQ(layout_test::countNotes(step(run, 2).problems, Code::Unfinished), 1U);
    EXPECT_EQ(step(run, 2).problems[0].where, "step_2");
}

TEST(LineageForms, AnUnreadableFormOfACheckpointIsNoDelta)
{
    auto run = RunOf({ .standAlone = true }).anchor(1).unreadableForm().build();
    EXPECT_EQ(step(run, 1).kindOf(1), VersionKind::Anchor);
    EXPECT_EQ(step(run, 1).otherForms[0].obstacle->code, Code::Unfinished);
    run = RunOf().anchor(1).delta(2).unreadableForm().build();
    EXPECT_EQ(step(run, 2).kindOf(1), VersionKind::Delta) << "of other layouts nothing tells";
}

VersionFacts oneFailedDigestOfNine()
{
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 1;
    facts.firstFailedTensor = "model.w";
    facts.expectedDigest = "aa";
    facts.actualDigest = "bb";
    return facts;
}

TEST(LineageExternalBase, OneFailingDigestOfManySpeaksAgainstBaseAndDelta)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    step(run, 1).facts = oneFailedDigestOfNine();
    assess(run);
    const Error& obstacle = *step(run, 1).obstacle;
    EXPECT_EQ(obstacle.code, Code::Digest);
    for (const char* part : { "model.w", "aa", "bb", "the base checkpoint, the delta or the record is wrong" })
        EXPECT_NE(obstacle.text.find(part), std::string::npos) << obstacle.text;
    EXPECT_EQ(obstacle.remedyText(), BaseFirst);
    EXPECT_EQ(step(run, 1).state, VersionState::Broken);

    step(run, 1).facts = VersionFacts();
    step(run, 2).facts = oneFailedDigestOfNine();
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 2 }));
    EXPECT_EQ(step(run, 2).obstacle->remedyText(), BaseFirst) << "a tensor that step 1 left alone is that of the base";
}

TEST(LineageExternalBase, IsNotSuspectedBehindAnAnchor)
{
    auto run = RunOf().anchor(1).delta(2).build();
    step(run, 2).facts = oneFailedDigestOfNine();
    assess(run);
    const Error& obstacle = *step(run, 2).obstacle;
    EXPECT_EQ(obstacle.text.find("base checkpoint"), std::string::npos) << obstacle.text;
    EXPECT_EQ(obstacle.remedyText(), remedy(Code::Digest));
}

TEST(LineageExternalBase, FailingDigestsBehindABrokenStepSayNothingNew)
{
    auto run = RunOf({ .needsExternalBase = true }).withBase().deltaOn(1, 0).deltaOn(2, 1).build();
    VersionFacts facts;
    facts.digestsChecked = 9;
    facts.digestsFailed = 1;
    facts.firstFailedTensor = "model.w";
    step(run, 1).facts = facts;
    step(run, 2).facts = facts;
    assess(run);
    EXPECT_EQ(step(run, 2).obstacleAt, 0U);
    EXPECT_NE(step(run, 2).state, VersionState::Broken);
}

} // namespace
} // namespace deltascope
