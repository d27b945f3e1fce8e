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
}

} // namespace
} // namespace deltascope
