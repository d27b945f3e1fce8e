#include "lineage_runs.h"

// Versions that are not whole, or cannot be read.

namespace deltascope {
namespace {

using namespace lineage_test;

TEST(LineagePublishing, ATruncatedNewestObjectIsBeingPublished)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).build(Begin + 5 * Second);
    EXPECT_EQ(step(run, 3).state, VersionState::Publishing);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Publishing);
}

TEST(LineagePublishing, TheSameObjectIsBrokenWhenItRested)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).build();
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Truncated);
    EXPECT_EQ(step(run, 3).obstacle->step, 3);
    EXPECT_EQ(step(run, 3).obstacle->where, "step_3");
}

TEST(LineagePublishing, AMinuteIsTheLeastThatAnObjectMayRest)
{
    const RunOf versions = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated); // one second apart
    const std::int64_t published = Begin + 3 * Second;
    EXPECT_EQ(step(versions.build(published + 59 * Second), 3).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(published + 60 * Second), 3).state, VersionState::Broken);
}

TEST(LineagePublishing, SlowRunsMayRestTenIntervals)
{
    const RunOf versions = RunOf()
                               .anchor(1)
                               .at(Begin)
                               .delta(2)
                               .at(Begin + 100 * Second)
                               .delta(3)
                               .at(Begin + 200 * Second)
                               .unreadable(4, Code::Unfinished)
                               .at(Begin + 300 * Second);
    EXPECT_EQ(step(versions.build(Begin + 300 * Second + 999 * Second), 4).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(Begin + 300 * Second + 1000 * Second), 4).state, VersionState::Broken);
}

TEST(LineagePublishing, AnHourIsTheMost)
{
    const RunOf versions = RunOf()
                               .anchor(1)
                               .at(Begin)
                               .delta(2)
                               .at(Begin + 5000 * Second)
                               .unreadable(3, Code::Truncated)
                               .at(Begin + 10'000 * Second);
    EXPECT_EQ(step(versions.build(Begin + 13'599 * Second), 3).state, VersionState::Publishing);
    EXPECT_EQ(step(versions.build(Begin + 13'600 * Second), 3).state, VersionState::Broken);
}

TEST(LineagePublishing, AHostileHeaderIsBrokenHoweverYoung)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Hostile).build(Begin + 3 * Second);
    EXPECT_EQ(step(run, 2).state, VersionState::Broken);
}

TEST(LineagePublishing, APreallocatedObjectIsBeingPublished)
{
    const auto run = RunOf().anchor(1).delta(2).halfWritten().build(Begin + 3 * Second);
    EXPECT_EQ(step(run, 2).state, VersionState::Publishing);
    EXPECT_EQ(obstructed(run), Steps({ 2 }));
}

TEST(LineagePublishing, AnOldObjectWithAHoleIsUsed)
{
    EXPECT_TRUE(obstructed(RunOf().anchor(1).delta(2).halfWritten().build()).empty());
}

TEST(LineagePublishing, StepsOnAnUnfinishedOneNameIt)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).deltas(3, 4).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4 }));
    EXPECT_EQ(step(run, 4).obstacleAt, 1U);
    EXPECT_NE(step(run, 4).obstacle->text.find("step 4 builds on step 2"), std::string::npos)
        << step(run, 4).obstacle->text;
}

TEST(LineagePublishing, WhatALaterDeltaBuildsOnIsNotWrittenAnyMore)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Truncated).delta(4).build(Begin + 5 * Second);
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    const auto anchor = RunOf().unreadable(1, Code::Truncated).anchor(2).anchor(3).build(Begin + 5 * Second);
    EXPECT_EQ(step(anchor, 1).state, VersionState::Publishing);
}

TEST(LineagePublishing, ATimeThatIsStillToComeCountsAsOurFirstSight)
{
    for (const std::int64_t published : { Begin + 600 * Second, LongAfter }) {
        const auto seen = [published](std::int64_t seenUs, std::int64_t nowUs) {
            const RunOf run = RunOf().anchor(1).unreadable(2, Code::Truncated).at(published).seenAt(seenUs);
            return step(run.build(nowUs), 2).state;
        };
        EXPECT_EQ(seen(0, Begin), VersionState::Publishing) << "nothing is remembered";
        EXPECT_EQ(seen(Begin, Begin + 30 * Second), VersionState::Publishing);
        EXPECT_EQ(seen(Begin, Begin + 599 * Second), VersionState::Publishing);
        EXPECT_EQ(seen(Begin - 3600 * Second, Begin), VersionState::Broken);
    }
}

TEST(LineageObstacles, EndAtTheNextCompleteAnchor)
{
    const auto run = RunOf().anchor(1).unreadable(2, Code::Truncated).deltas(3, 9).anchor(10).delta(11).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4, 5, 6, 7, 8, 9 }));
}

TEST(LineageObstacles, GoThroughAPartialAnchor)
{
    const auto run = RunOf().anchor(1, 13).unreadable(2, Code::Truncated).anchor(3, 8).delta(4).build();
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4 }));
}

TEST(LineageObstacles, ABrokenAnchorBreaksWhatStandsOnItOnly)
{
    const auto run = RunOf().anchor(1).delta(2).unreadable(3, Code::Hostile).delta(4).anchor(5).delta(6).build();
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
}

TEST(LineageObstacles, DamageThatAReplayFoundIsOne)
{
    auto run = RunOf().anchor(1).deltas(2, 4).build();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "position 900 of 8", "step_3", 3, {} };
    step(run, 3).facts = facts;
    assess(run);
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
    EXPECT_EQ(step(run, 3).obstacle->code, Code::Hostile);
}

TEST(LineageObstacles, WhatThisBuildCannotReadIsNotCalledBroken)
{
    auto run = RunOf().anchor(1).deltas(2, 3).build();
    VersionFacts facts;
    facts.damage = Error { Code::Unsupported, "nvcomp", "step_2", 2, {} };
    step(run, 2).facts = facts;
    assess(run);
    EXPECT_EQ(step(run, 2).state, VersionState::Complete);
    EXPECT_EQ(obstructed(run), Steps({ 2, 3 }));
}

TEST(LineageObstacles, VanishWhenTheFactsDo)
{
    auto run = RunOf().anchor(1).deltas(2, 3).build();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "bad", "step_2", 2, {} };
    step(run, 2).facts = facts;
    assess(run);
    ASSERT_EQ(obstructed(run), Steps({ 2, 3 }));
    step(run, 2).facts.reset();
    assess(run);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(step(run, 2).state, VersionState::Complete);
}

TEST(LineageObstacles, AssessingTwiceSaysNothingTwice)
{
    auto run = RunOf().anchor(1, 13).deltas(2, 4).delta(6).anchor(7, 8).build();
    step(run, 6).facts = factsOf(100, 5);
    assess(run);
    const std::size_t problems = run.problems.size();
    const std::vector<Error> ofStep = step(run, 7).problems;
    assess(run);
    EXPECT_EQ(run.problems.size(), problems);
    EXPECT_EQ(step(run, 7).problems, ofStep);
}

TEST(LineageObstacles, RandomChainsBreakExactlyWhatBuildsOnTheBreak)
{
    std::uint64_t state = 7;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    };
    for (int round = 0; round < 200; ++round) {
        RunOf versions;
        Steps expected;
        bool broken = false;
        for (std::int64_t number = 1; number <= 40; ++number) {
            const std::uint64_t what = random(12);
            if (number == 1 || what == 0) {
                versions.anchor(number);
                broken = false;
            } else if (what == 1) {
                versions.unreadable(number, Code::Hostile);
                broken = true;
            } else {
                versions.delta(number);
            }
            if (broken)
                expected.push_back(number);
        }
        EXPECT_EQ(obstructed(versions.build()), expected) << round;
    }
}

} // namespace
} // namespace deltascope
