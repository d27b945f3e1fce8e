#include "lineage_runs.h"

// Anchors that are further from the replay than training explains.

namespace deltascope {
namespace {

using namespace lineage_test;

Run withAnchorDifference(std::uint64_t difference)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(5).build();
    for (const std::int64_t number : { 2, 3, 4 })
        step(run, number).facts = factsOf(100);
    VersionFacts facts = factsOf(0);
    facts.changedElements = 400;
    facts.changedVsPrevious = difference;
    step(run, 5).facts = facts;
    assess(run);
    return run;
}

TEST(LineageDrift, HalfAsMuchAgainAsTheSecondLargestDeltaIsNoAlarm)
{
    EXPECT_EQ(count(step(withAnchorDifference(150), 5).problems, Code::AnchorDrift), 0U);
}

TEST(LineageDrift, MoreThanThatIsAnAlarm)
{
    const auto run = withAnchorDifference(151);
    const Error& drift = problem(step(run, 5).problems, Code::AnchorDrift);
    EXPECT_NE(drift.text.find("151"), std::string::npos) << drift.text;
    EXPECT_EQ(drift.step, 5);
    EXPECT_FALSE(step(run, 5).obstacle);
}

/// Steps 2 to 4 are deltas, 5 is an anchor; a root proves those in `proven`.
Run withAnchorFarAway(const Steps& proven)
{
    auto run = withAnchorDifference(151);
    for (const std::int64_t number : proven)
        step(run, number).facts->rootCheck = VersionFacts::RootCheck::Matches;
    assess(run);
    return run;
}

Steps alarmedSteps(const Run& run)
{
    Steps steps;
    for (const Version& version : run.versions) {
        if (version.driftAlarm)
            steps.push_back(version.step());
    }
    return steps;
}

TEST(LineageDrift, WhatRootsProveOnBothSidesIsNotAccused)
{
    const auto run = withAnchorFarAway({ 2, 3, 4, 5 });
    EXPECT_EQ(alarmedSteps(run), Steps());
    for (const Version& version : run.versions)
        EXPECT_EQ(count(version.problems, Code::AnchorDrift), 0U) << version.step();
    EXPECT_TRUE(step(run, 5).farFromReplay) << "whether two runs meet there is another question";
}

TEST(LineageDrift, WhatNoRootProvesIsAccusedAsBefore)
{
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({})), Steps({ 2, 3, 4, 5 }));
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({ 2, 3, 4 })), Steps({ 5 }));
    EXPECT_EQ(alarmedSteps(withAnchorFarAway({ 2, 3 })), Steps({ 4, 5 }));
    const auto run = withAnchorFarAway({ 5 });
    EXPECT_EQ(alarmedSteps(run), Steps({ 2, 3, 4 }));
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U) << "the difference shows there";
    EXPECT_EQ(problem(step(run, 4).problems, Code::AnchorDrift).text.find("that state"), std::string::npos)
        << "it is proven";
}

TEST(LineageDrift, ADamagedAnchorIsNotComparedWithTheReplay)
{
    for (const bool isDamaged : { false, true }) {
        auto run = withAnchorDifference(101);
        step(run, 5).facts->sameLowByte = 1;
        if (isDamaged)
            step(run, 5).facts->rootCheck = VersionFacts::RootCheck::Differs;
        assess(run);
        EXPECT_EQ(count(run.problems, Code::Missed), isDamaged ? 0U : 1U);
        EXPECT_EQ(driftAt(run, 4).has_value(), !isDamaged);
        if (!isDamaged) {
            EXPECT_NE(problem(run.problems, Code::Missed)
                          .text.find("has missed 1 change: the anchor at step 5 holds it, the states"),
                      std::string::npos);
        }
    }
}

TEST(LineageDrift, APoisonedDeltaDoesNotRaiseItsOwnLimit)
{
    auto run = withAnchorDifference(400);
    step(run, 3).facts = factsOf(400); // a delta that changes all, and an anchor that takes it back
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, DeltasThatChangeNothingAreNoMeasure)
{
    auto run = withAnchorDifference(150);
    step(run, 3).facts = factsOf(0);
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    step(run, 5).facts->changedVsPrevious = 151;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, AnAnchorBehindAMissingNumberMayHoldTwoSteps)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(6).build();
    for (const std::int64_t number : { 2, 3, 4 })
        step(run, number).facts = factsOf(100);
    step(run, 6).facts = factsOf(0);
    for (const std::uint64_t differs : { 300U, 301U }) {
        step(run, 6).facts->changedVsPrevious = differs;
        assess(run);
        EXPECT_EQ(count(step(run, 6).problems, Code::AnchorDrift), differs == 301 ? 1U : 0U) << differs;
    }
}

TEST(LineageDrift, AnAlarmConcernsTheDeltasSinceTheAnchorBeforeAndTheAnchor)
{
    auto run = RunOf().anchor(1).deltas(2, 4).anchor(5).deltas(6, 8).anchor(9).delta(10).build();
    for (const std::int64_t number : { 2, 3, 4, 6, 7, 8, 10 })
        step(run, number).facts = factsOf(100);
    for (const std::int64_t number : { 5, 9 }) {
        step(run, number).facts = factsOf(0);
        step(run, number).facts->changedVsPrevious = number == 5 ? 90 : 151;
    }
    assess(run);
    for (const Version& version : run.versions) {
        const bool concerned = version.step() >= 6 && version.step() <= 9;
        EXPECT_EQ(version.driftAlarm, concerned) << version.step();
        EXPECT_EQ(count(version.problems, Code::AnchorDrift), concerned ? 1U : 0U) << version.step();
    }
    step(run, 9).facts->changedVsPrevious = 150;
    assess(run);
    EXPECT_FALSE(step(run, 9).driftAlarm);
    EXPECT_FALSE(step(run, 6).driftAlarm);
}

TEST(LineageDrift, WithFewerThanTwoDeltasNothingIsCompared)
{
    auto run = RunOf().anchor(1).delta(2).anchor(3).build();
    step(run, 2).facts = factsOf(10);
    step(run, 3).facts = factsOf(0);
    step(run, 3).facts->changedVsPrevious = 400;
    assess(run);
    EXPECT_FALSE(driftLimit(run, 2));
    EXPECT_FALSE(step(run, 3).driftAlarm);
}

TEST(LineageDrift, ATensorBeyondItsOwnLimitIsAnAlarm)
{
    auto run = withAnchorDifference(100);
    step(run, 5).facts->driftedTensors = { { "w", 80, 20 }, { "b", 40, 7 } };
    assess(run);
    const std::string text = problem(step(run, 5).problems, Code::AnchorDrift).text;
    EXPECT_NE(text.find("80 elements of w"), std::string::npos) << text;
    EXPECT_TRUE(step(run, 4).driftAlarm);
}

TEST(LineageDrift, WarmUpAndAChangeOfTheLearningRateAreNoAlarm)
{
    for (const auto& sizes : { std::vector<std::uint64_t> { 10, 15, 22, 33, 50, 74, 90, 100 },
                               std::vector<std::uint64_t> { 100, 100, 100, 60, 60, 60, 60, 60 } }) {
        auto run = RunOf().anchor(1).deltas(2, 8).anchor(9).build();
        for (std::int64_t number = 2; number <= 8; ++number)
            step(run, number).facts = factsOf(sizes[static_cast<std::size_t>(number - 2)]);
        step(run, 9).facts = factsOf(0);
        step(run, 9).facts->changedVsPrevious = sizes.back();
        assess(run);
        EXPECT_FALSE(step(run, 9).driftAlarm);
    }
}

TEST(LineageDrift, MissedChangesOfALowByteWriterAreCountedAndAreNoAlarm)
{
    auto run = withAnchorDifference(159);
    step(run, 5).facts->sameLowByte = 9;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    EXPECT_NE(problem(run.problems, Code::Missed).text.find("missed 9 changes"), std::string::npos);
    EXPECT_EQ(driftAt(run, 4)->missed, 9U);
    EXPECT_EQ(driftAt(run, 4)->estimate, 50U);

    step(run, 3).facts->sameLowByte = 1; // such a writer would have missed this one
    assess(run);
    EXPECT_EQ(count(run.problems, Code::Missed), 0U);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, MoreMissedChangesThanChangesAreAnAlarm)
{
    auto run = withAnchorDifference(390);
    step(run, 5).facts->sameLowByte = 390; // every sign turned over
    assess(run);
    EXPECT_TRUE(step(run, 5).driftAlarm);
    EXPECT_EQ(count(run.problems, Code::Missed), 0U);
}

TEST(LineageDrift, ZerosWithAnotherSignAreCountedApartAndAreNoAlarm)
{
    auto run = withAnchorDifference(190);
    step(run, 5).facts->zeroSigns = 40;
    assess(run);
    EXPECT_EQ(count(step(run, 5).problems, Code::AnchorDrift), 0U);
    const auto drift = driftAt(run, 4);
    ASSERT_TRUE(drift);
    EXPECT_EQ(drift->differs, 190U);
    EXPECT_EQ(drift->zeroSigns, 40U);
    EXPECT_EQ(drift->estimate, 50U);

    step(run, 5).facts->zeroSigns = 39;
    assess(run);
    const std::string text = problem(step(run, 5).problems, Code::AnchorDrift).text;
    EXPECT_NE(text.find("39 of them in the sign of zero alone"), std::string::npos) << text;
}

TEST(LineageDrift, DeltasOfAnotherEpochAreNoMeasure)
{
    // epoch 0: small steps up to 8; epoch 1: a run that moves ten times as much
    RunOf versions;
    for (std::int64_t number = 1; number <= 8; ++number) {
        const bool isAnchor = number == 1 || number == 4 || number == 8;
        const bool isNew = number <= 4;
        isAnchor ? versions.anchor(number) : versions.delta(number);
        versions.at((isNew ? LongAfter : Begin) + number * Second);
    }
    auto run = versions.build(LongAfter + 1000 * Second);
    ASSERT_EQ(run.epochs(), 2);
    for (Version& version : run.versions) {
        if (version.kind == VersionKind::Delta)
            version.facts = factsOf(version.epoch == 0 ? 1000 : 10);
    }
    VersionFacts facts = factsOf(0);
    facts.changedVsPrevious = 100; // ten times what the deltas of its own epoch change
    step(run, 4).facts = facts;
    assess(run);
    EXPECT_EQ(count(step(run, 4).problems, Code::AnchorDrift), 1U);
}

TEST(LineageDrift, BehindALossTheDifferenceOfAnAnchorMeansNothing)
{
    auto run = RunOf().anchor(1).deltas(2, 3).delta(5).anchor(6).build();
    for (const std::int64_t number : { 2, 3 })
        step(run, number).facts = factsOf(1000);
    step(run, 5).facts = factsOf(1000, 90);
    VersionFacts facts;
    facts.changedVsPrevious = 3900;
    step(run, 6).facts = facts;
    assess(run);
    ASSERT_EQ(obstructed(run), Steps({ 5 }));
    EXPECT_FALSE(step(run, 6).facts->changedVsPrevious);
    EXPECT_EQ(count(step(run, 6).problems, Code::AnchorDrift), 0U);
}

} // namespace
} // namespace deltascope
