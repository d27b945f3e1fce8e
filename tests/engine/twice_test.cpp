#include "trained_run.h"

// A number with an anchor and a delta (docs/formats/trl-v2.md, section 5): what fits the run is used, whatever the
// times of the two are.

namespace deltascope {
namespace {

using namespace layout_test;

/// Refused, and the refusal names the step and both objects.
void expectUndecided(const EngineRun& run, std::int64_t number)
{
    const Version& version = step(run, number);
    ASSERT_TRUE(version.obstacle);
    EXPECT_EQ(version.obstacle->code, Code::FormsDiffer);
    EXPECT_EQ(version.obstacle->step, number);
    EXPECT_NE(version.obstacle->text.find(anchorKey(number)), std::string::npos);
    EXPECT_NE(version.obstacle->text.find(deltaKey(number)), std::string::npos);
}

TEST(StepTwice, TheNextAnchorTellsAStaleDelta)
{
    Training training(12, 2);
    const Change stale = training.changeOf(training.states[5]);
    for (const std::int64_t minute : { 1, 6, 500 }) { // older than the anchor, as old, and younger than everything
        Bucket bucket;
        bucket.putRun(training, 12, { 1, 6, 12 });
        bucket.putDelta(6, stale, minute);
        const EngineRun run = bucket.analyzed();
        EXPECT_EQ(run.epochs(), 1);
        EXPECT_TRUE(obstructed(run).empty());
        for (const std::int64_t number : { 5, 6, 7, 11, 12 })
            EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)])) << number;
        ASSERT_TRUE(step(run, 6).ownFormObstacle);
        EXPECT_EQ(step(run, 6).ownFormObstacle->where, deltaKey(6));
        EXPECT_EQ(countNotes(step(run, 6).problems, Code::Fork),
                  2U); // that it exists twice, and which is not of this run
    }
}

TEST(StepTwice, TheNextAnchorTellsAStaleAnchor)
{
    Training training(12, 3);
    Words16 stale = training.states[5];
    for (const auto& [at, word] : training.changeOf(stale)) // as far from step 5 as the right one
        stale[at] = word;
    Bucket bucket;
    bucket.putRun(training, 12, { 1, 12 });
    bucket.putAnchor(6, stale, 500);
    const EngineRun run = bucket.analyzed();
    EXPECT_TRUE(obstructed(run).empty());
    for (const std::int64_t number : { 6, 7, 11 })
        EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)])) << number;
    ASSERT_TRUE(step(run, 6).factsOf(1)->damage);
    EXPECT_EQ(step(run, 6).factsOf(1)->damage->where, anchorKey(6));
}

TEST(StepTwice, AnAnchorFarFromWhatStandsInFrontOfItIsOfAnotherRun)
{
    const Training training(8, 4);
    const Training other(6, 5);
    for (const std::int64_t minute : { 1, 6, 500 }) {
        Bucket bucket;
        bucket.putRun(training, 8, { 1 });
        bucket.putAnchor(6, other.states[6], minute);
        const EngineRun run = bucket.analyzed();
        for (const std::int64_t number : { 6, 7, 8 })
            EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)])) << number;
    }
}

TEST(StepTwice, WhereNothingDecidesWhatNeedsTheStepIsRefused)
{
    Training training(11, 6);
    Bucket bucket;
    bucket.putRun(training, 11, { 1, 6 });
    bucket.putDelta(6, training.changeOf(training.states[5]), 500);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(obstructed(run), (Steps { 6, 7, 8, 9, 10, 11 }));
    expectUndecided(run, 6);
    EXPECT_TRUE(bucket.holds(run, 5, training.states[5]));
    EXPECT_FALSE(planFor(run, step(run, 11)));
}

TEST(StepTwice, TwoAnchorsOfAnotherRunDoNotVouchForEachOther)
{
    const Training training(8, 20);
    const Training other(6, 21, 2);
    Bucket bucket;
    bucket.putRun(training, 8, { 1 });
    bucket.putAnchor(4, other.states[4], 500);
    bucket.putAnchor(5, other.states[5], 501);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(run.epochs(), 1);
    for (const std::int64_t number : { 4, 5, 6, 8 })
        EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)])) << number;
}

TEST(StepTwice, TwoFormsOfOneStateAreNoAlarm)
{
    const Training training(12, 7);
    for (const std::int64_t minute : { 1, 6, 500 }) {
        Bucket bucket;
        bucket.putRun(training, 12, { 1, 6, 12 });
        bucket.putDelta(6, training.changes[6], minute);
        EngineRun run = bucket.analyzed();
        EXPECT_TRUE(obstructed(run).empty());
        EXPECT_EQ(step(run, 6).fullFormDiffers(), 0U);
        EXPECT_EQ(countNotes(step(run, 6).problems, Code::Fork), 1U);
        VerifyOptions options;
        options.level = 4;
        const auto report = verifyRun(bucket.session.bench, run, options, bucket.session.task);
        ASSERT_TRUE(report);
        for (const StepVerdict& verdict : report->steps)
            EXPECT_EQ(verdict.verdict == Verdict::Consistent, verdict.version > 0) << verdict.version;
    }
}

TEST(StepTwice, WhatIsDecidedIsRemembered)
{
    Training training(12, 8);
    Bucket bucket;
    bucket.session.openCatalog();
    bucket.putRun(training, 12, { 1, 6, 12 });
    bucket.putDelta(6, training.changeOf(training.states[5]), 500);
    static_cast<void>(bucket.analyzed());
    const auto again = bucket.session.open(bucket.store);
    ASSERT_TRUE(again);
    EXPECT_TRUE(step(*again, 6).ownFormObstacle);
    EXPECT_TRUE(bucket.holds(*again, 7, training.states[7]));
}

TEST(StepTwice, AnOldAnchorDecidesNothingBehindARestart)
{
    const Training old(12, 9, 2);
    const Training training(8, 10);
    Bucket bucket;
    bucket.session.openRecords();
    bucket.session.openCatalog();
    for (const std::int64_t number : { 9, 10, 11 })
        bucket.putDelta(number, old.changes[static_cast<std::size_t>(number)]);
    bucket.putAnchor(6, old.states[6]);
    bucket.putAnchor(12, old.states[12]);
    bucket.putAnchor(1, training.states[1], 1001);
    for (std::int64_t number = 2; number <= 8; ++number)
        bucket.putDelta(number, training.changes[static_cast<std::size_t>(number)], 1000 + number);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(run.epochs(), 2);
    EXPECT_EQ(run.latest()->step(), 8);
    for (const std::int64_t number : { 5, 6, 7, 8 })
        EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)])) << number;
    EXPECT_TRUE(bucket.holds(run, 6, old.states[6], 0));
    EXPECT_TRUE(bucket.holds(run, 12, old.states[12], 0));
    EXPECT_EQ(obstructed(run), (Steps { 9, 10, 11 })); // steps 7 and 8 of their run were written over
    EXPECT_TRUE(run.gaps.empty());
}

/// A restart that has written over all deltas of an earlier run, up to step 8, from a first state of its own.
void putRestart(Bucket& bucket, const Training& training, std::int64_t minute = 1000)
{
    bucket.putAnchor(1, training.states[1], minute + 1);
    for (std::int64_t number = 2; number <= 8; ++number)
        bucket.putDelta(number, training.changes[static_cast<std::size_t>(number)], minute + number);
}

TEST(LeftAnchors, AreVersionsOfTheEarlierEpoch)
{
    const Training old(8, 11, 2);
    const Training training(8, 12);
    Bucket bucket;
    bucket.session.openRecords();
    bucket.putAnchor(4, old.states[4]);
    bucket.putAnchor(5, old.states[5]);
    bucket.putAnchor(8, old.states[8]);
    putRestart(bucket, training);
    for (const bool again : { false, true }) { // the second look goes by the records
        EngineRun run = bucket.analyzed();
        ASSERT_EQ(run.epochs(), 2) << again;
        EXPECT_EQ(run.versions.size(), 11U);
        EXPECT_TRUE(obstructed(run).empty());
        EXPECT_TRUE(run.gaps.empty());
        for (const std::int64_t number : { 4, 5, 8 }) {
            EXPECT_TRUE(bucket.holds(run, number, old.states[static_cast<std::size_t>(number)], 0)) << number;
            EXPECT_EQ(countNotes(step(run, number, 0).problems, Code::Fork), 1U);
        }
        for (std::int64_t number = 1; number <= 8; ++number) {
            EXPECT_TRUE(bucket.holds(run, number, training.states[static_cast<std::size_t>(number)], 1)) << number;
            EXPECT_TRUE(step(run, number, 1).problems.empty()) << number;
        }
        EXPECT_EQ(run.latest()->step(), 8);
        EXPECT_EQ(run.latest()->epoch, 1);
        EXPECT_TRUE(std::all_of(run.problems.begin(), run.problems.end(),
                                [](const Error& told) { return isNotice(told.code); }));
        VerifyOptions options;
        options.level = 4;
        const auto report = verifyRun(bucket.session.bench, run, options, bucket.session.task);
        ASSERT_TRUE(report);
        EXPECT_LE(report->verdict, Verdict::FirstSight);
    }
}

TEST(LeftAnchors, OfTwoEarlierRunsAreOfTwoEpochs)
{
    const Training first(12, 13, 2);
    const Training second(8, 14, 3);
    const Training third(8, 15);
    Bucket bucket;
    bucket.putAnchor(6, first.states[6]);
    bucket.putAnchor(12, first.states[12]);
    bucket.putAnchor(4, second.states[4], 504);
    putRestart(bucket, third);
    const EngineRun run = bucket.analyzed();
    ASSERT_EQ(run.epochs(), 3);
    EXPECT_TRUE(bucket.holds(run, 6, first.states[6], 0));
    EXPECT_TRUE(bucket.holds(run, 12, first.states[12], 0));
    EXPECT_TRUE(bucket.holds(run, 4, second.states[4], 1));
    EXPECT_TRUE(bucket.holds(run, 4, third.states[4]));
    EXPECT_TRUE(bucket.holds(run, 6, third.states[6]));
}

TEST(LeftAnchors, OfTheSameBitsAreASecondForm)
{
    const Training training(8, 16);
    Bucket bucket;
    bucket.putAnchor(4, training.states[4]);
    putRestart(bucket, training);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_EQ(step(run, 4).fullFormDiffers(), 0U);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(run.problems.empty());
}

TEST(LeftAnchors, ThatMayBeOfTheRunStayBesideTheirDelta)
{
    Training training(8, 17);
    Words16 other = training.states[3];
    for (const auto& [at, word] : training.changeOf(other)) // as far from step 3 as step 4
        other[at] = word;
    Bucket bucket;
    bucket.putAnchor(4, other);
    putRestart(bucket, training);
    const EngineRun run = bucket.analyzed();
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_EQ(step(run, 4).otherForms.size(), 1U);
}

TEST(LeftAnchors, NothingIsChainedOntoThem)
{
    const Training old(9, 18, 2);
    const Training training(8, 19);
    Bucket bucket;
    bucket.putAnchor(8, old.states[8]);
    bucket.putDelta(9, old.changes[9]); // an earlier run may have had another step 8
    putRestart(bucket, training);
    const EngineRun run = bucket.analyzed();
    ASSERT_EQ(run.epochs(), 2);
    EXPECT_TRUE(bucket.holds(run, 8, old.states[8], 0));
    EXPECT_EQ(obstructed(run), (Steps { 9 }));
    EXPECT_EQ(step(run, 9).obstacle->code, Code::ChainGap);
}

} // namespace
} // namespace deltascope
