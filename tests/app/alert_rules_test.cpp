#include "alerts/rules.h"

#include "alert_run.h"
#include "support/times.h"

#include <gtest/gtest.h>
#include <set>

// When each rule finds something, when it lingers, and when it is silent.

namespace deltascope::app {
namespace {

using test::Begin;
using test::Hour;
using test::Second;

/// What a rule finds with its usual threshold; another threshold where it has none.
Findings findAt(const AlertRun& run, const std::string& rule, std::int64_t nowUs, double threshold = 0)
{
    const Rule* const known = alertRule(rule);
    EXPECT_NE(known, nullptr) << rule;
    return known->find({ run.view, run.verified, nowUs, known->threshold.value_or(threshold) });
}
Findings findNow(const AlertRun& run, const std::string& rule, double threshold = 0)
{
    return findAt(run, rule, run.nowUs(), threshold);
}

TEST(AlertRules, SayNothingAboutAHealthyRunNorAboutNone)
{
    AlertRun healthy(60);
    healthy.addReplica("r0", 0);
    healthy.addReplica("r1", 1);
    healthy.view.drift = { { 0, 50, 0, 0, 0 } };
    AlertRun young(1);
    AlertRun none(0);
    AlertRun nothing(0);
    nothing.view.epochs.clear();
    for (const Rule& rule : alertRules()) {
        for (const AlertRun* run : { &young, &none, &nothing })
            EXPECT_TRUE(rule.find({ run->view, {}, Begin, rule.threshold.value_or(1e6) }).empty()) << rule.id;
        for (const Finding& finding : rule.find({ healthy.view, {}, healthy.nowUs(), rule.threshold.value_or(1e6) }))
            ADD_FAILURE() << rule.id << ": " << finding.text;
    }
}

TEST(AlertRules, AreExplained)
{
    std::set<std::string_view> ids;
    for (const Rule& rule : alertRules()) {
        EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
        EXPECT_TRUE(rule.what.ends_with('.')) << rule.id;
        EXPECT_FALSE(rule.remedy.empty()) << rule.id;
        EXPECT_FALSE(rule.threshold && rule.unit.empty()) << rule.id;
    }
    EXPECT_EQ(ids.size(), 16U);
    EXPECT_EQ(alertRule("no-such"), nullptr);
}

TEST(PublishStalled, WarnsAfterThreeIntervalsAndAMinuteAndThenAlarms)
{
    AlertRun run(30); // ten seconds from step to step: the minute counts
    const std::int64_t newest = run.newest().publishedUs;
    EXPECT_TRUE(findAt(run, "publish-stalled", newest + 60 * Second).empty());
    Findings found = findAt(run, "publish-stalled", newest + 61 * Second);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].level, AlertLevel::Warn);
    EXPECT_EQ(found[0].step, 29);
    found = findAt(run, "publish-stalled", newest + 181 * Second);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].level, AlertLevel::Error);
    EXPECT_TRUE(findAt(run, "publish-stalled", newest + 25 * Hour).empty()) << "a run that is over";
}

TEST(PublishStalled, KnowsTheHabitOfTheRun)
{
    AlertRun run(0);
    for (int i = 0; i < 10; ++i)
        run.publish().publishedUs = Begin + i * 600 * Second;
    const std::int64_t newest = run.newest().publishedUs;
    EXPECT_TRUE(findAt(run, "publish-stalled", newest + 1800 * Second).empty());
    EXPECT_EQ(findAt(run, "publish-stalled", newest + 1801 * Second).size(), 1U);
}

TEST(PublishStalled, KnowsNoHabitFromTheTimesOfACopy)
{
    for (const std::int64_t apart : { Second / 2, Second }) {
        AlertRun run(0);
        for (int i = 0; i < 10; ++i)
            run.publish().publishedUs = Begin + i * apart;
        const Findings found = findAt(run, "publish-stalled", run.newest().publishedUs + 61 * Second);
        EXPECT_EQ(found.size(), apart < Second ? 0U : 1U);
    }
}

TEST(ChainGap, FiresWhereNothingProvesThatNothingIsLost)
{
    AlertRun run(15);
    run.miss(2);
    run.publish().proven = false;
    Findings found = findNow(run, "chain-gap");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "Steps 15 to 16 are missing");
    EXPECT_EQ(found[0].subject, "0:15");
    EXPECT_EQ(found[0].afterUs, 30 * Second);
    run.view.problems = { { "DS-CHAIN-GAP", 15, "bucket", "Steps 15 to 16 have no object and are lost", "" } };
    EXPECT_EQ(findNow(run, "chain-gap")[0].text, "Steps 15 to 16 have no object and are lost");

    run.newest().proven = true;
    EXPECT_TRUE(findNow(run, "chain-gap").empty()) << "an empty step";
    run.newest().restorable = false;
    EXPECT_EQ(findNow(run, "chain-gap").size(), 1U);
    run.publish("anchor");
    EXPECT_TRUE(findNow(run, "chain-gap").empty()) << "an anchor heals the chain";
}

TEST(ChainGap, FiresOnceForALostBase)
{
    AlertRun run(11);
    const ProblemView lost { "DS-CHAIN-GAP", 11, "d", "step 11 was written against a state that no version has", "" };
    StepView& first = run.publish();
    first.restorable = false;
    first.problems = { lost };
    StepView& second = run.publish();
    second.restorable = false;
    second.restore.blockedBy = 11;
    second.problems = { lost };
    const Findings found = findNow(run, "chain-gap");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].step, 11);
    EXPECT_EQ(found[0].text, lost.text);
}

TEST(DigestMismatch, FiresForDamagedStepsAndForReplicasThatRefuseOne)
{
    AlertRun run(30);
    run.view.epochs[0].steps[12].problems = { { "DS-DIGEST", 12, "d", "root differs", "" } };
    run.verified[{ 0, 14 }] = { 2, "damaged", Begin };
    run.verified[{ 0, 15 }] = { 4, "verified", Begin };
    run.addReplica("r1", 2, "digest-mismatch");
    const Findings found = findNow(run, "digest-mismatch");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].text, "root differs");
    EXPECT_EQ(found[1].step, 14);
    EXPECT_EQ(found[2].replica, "r1");
    EXPECT_EQ(found[2].afterUs, 10 * Second);
    run.view.epochs[0].steps[28].problems = { { "DS-TRUNCATED", 28, "d", "cut short", "" } };
    EXPECT_EQ(findNow(run, "digest-mismatch").size(), 3U) << "the damaged step explains the replica";
    EXPECT_EQ(findNow(run, "digest-mismatch").back().step, 28);
    run.addReplica("r2", 0, "digest-mismatch");
    run.addReplica("r3", 3, "digest-mismatch");
    const Findings others = findNow(run, "digest-mismatch");
    ASSERT_EQ(others.size(), 4U);
    EXPECT_EQ(others.back().replica, "r2") << "it explains those alone that have not loaded it";
}

TEST(PhantomVersion, FiresForUploadsWithoutAnObject)
{
    AlertRun run(15);
    const auto upload = [&](std::int64_t step, std::int64_t endUs) {
        run.view.spans.push_back({ "trainer", "upload", 0, step, endUs - Second, endUs, 5 });
    };
    upload(14, run.newest().publishedUs);
    upload(15, run.nowUs() - 31 * Second);
    upload(16, run.nowUs() - 29 * Second);
    upload(5, run.nowUs() - 100 * Second);
    const Findings found = findNow(run, "phantom-version");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].step, 15);
    run.publish("delta");
    EXPECT_TRUE(findAt(run, "phantom-version", run.newest().publishedUs).empty()) << "the object has appeared";
}

TEST(PhantomVersion, FiresForAReplicaThatServesAMissingNumber)
{
    AlertRun run(15);
    run.miss();
    run.publish();
    run.addReplica("r0", 1);
    ASSERT_EQ(findNow(run, "phantom-version").size(), 1U);
    EXPECT_EQ(findNow(run, "phantom-version")[0].text, "r0 serves step 15, but no object of it is in the run.");
}

TEST(SuspectValues, FiresUntilAnAnchorIsFreeOfThem)
{
    AlertRun run(30);
    const auto suspect = [&](std::size_t at, const char* text) {
        run.view.epochs[0].steps[at].problems = { { "DS-SUSPECT-VALUES", static_cast<std::int64_t>(at), "d", text,
                                                    "" } };
    };
    const std::size_t last = run.view.epochs[0].steps.size() - 1;
    suspect(10, "w is all zeros");
    EXPECT_TRUE(findNow(run, "suspect-values").empty()) << "an anchor has ended it";
    suspect(last - 2, "w holds NaN");
    suspect(last - 1, "builds on it");
    suspect(last, "builds on it");
    const Findings found = findNow(run, "suspect-values");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].step, run.view.epochs[0].steps[last - 2].step);
    EXPECT_EQ(found[0].text, "w holds NaN");
    run.publish("anchor");
    EXPECT_TRUE(findNow(run, "suspect-values").empty());
}

TEST(Drift, IsWhatTheEngineSaysOfTheLastComparison)
{
    AlertRun run(30);
    run.view.drift = { { 0, 10, 5000, 0, 4000 } };
    EXPECT_TRUE(findNow(run, "drift").empty()) << "a large step of training is none";
    run.view.epochs[0].steps[10].problems = { { "DS-ANCHOR-DRIFT", 10, "a", "the anchor at step 10 differs", "" } };
    ASSERT_EQ(findNow(run, "drift").size(), 1U);
    EXPECT_EQ(findNow(run, "drift")[0].step, 10);
    EXPECT_EQ(findNow(run, "drift")[0].value, 4000);
    EXPECT_EQ(findNow(run, "drift")[0].text, "the anchor at step 10 differs");
    run.view.drift.push_back({ 0, 20, 50, 0, 0 });
    EXPECT_TRUE(findNow(run, "drift").empty()) << "the next anchor is clean";
}

TEST(DensityShift, IsMeasuredInSpreadsOfTheRun)
{
    AlertRun run(0);
    for (int i = 0; i < 40; ++i) // spread of 0.01 percentage points
        run.publish().changedFraction = 0.004 + (i % 2 ? 1e-4 : -1e-4);
    EXPECT_TRUE(findNow(run, "density-shift").empty());
    run.publish().changedFraction = 0.0059; // far by spread, near by size
    EXPECT_TRUE(findNow(run, "density-shift").empty());
    run.publish().changedFraction = 0.0070;
    ASSERT_EQ(findNow(run, "density-shift").size(), 1U);
    EXPECT_EQ(findNow(run, "density-shift")[0].step, 41);
    EXPECT_EQ(findNow(run, "density-shift")[0].text, "Step 41 has changed 0.7 % of the weights; usual are 0.41 %.");
    for (int i = 0; i < 4; ++i)
        run.publish();
    EXPECT_EQ(findNow(run, "density-shift").size(), 1U) << "not yet five normal ones";
    run.publish();
    EXPECT_TRUE(findNow(run, "density-shift").empty());
}

TEST(DensityShift, NeedsAPastAndLeavesOutWhatIsUnknownOrEmpty)
{
    AlertRun run(0);
    for (int i = 0; i < 9; ++i)
        run.publish();
    run.publish().changedFraction = 0.5;
    EXPECT_TRUE(findNow(run, "density-shift").empty());
    for (int i = 0; i < 10; ++i)
        run.publish();
    run.publish().changedFraction.reset();
    StepView& empty = run.publish();
    empty.state = "noop";
    empty.changedFraction = 0;
    EXPECT_TRUE(findNow(run, "density-shift").empty());
}

TEST(DensityShift, ARollBackIsNeitherJudgedNorAMeasure)
{
    AlertRun run(0);
    for (int i = 0; i < 40; ++i)
        run.publish().changedFraction = 0.004 + (i % 2 ? 1e-4 : -1e-4);
    StepView& back = run.publish();
    back.changedFraction = 0.3;
    back.restores = 12;
    EXPECT_TRUE(findNow(run, "density-shift").empty());
    back.restores.reset();
    EXPECT_EQ(findNow(run, "density-shift").size(), 1U);
}

TEST(DensityHigh, CountsNoRollBack)
{
    AlertRun run(20);
    for (int i = 0; i < 5; ++i)
        run.publish().wireBytes = 510'000;
    ASSERT_EQ(findNow(run, "density-high").size(), 1U);
    StepView& back = run.publish();
    back.wireBytes = 10'000;
    back.restores = 12;
    ASSERT_EQ(findNow(run, "density-high").size(), 1U);
    EXPECT_DOUBLE_EQ(findNow(run, "density-high")[0].value.value_or(0), 51);
}

TEST(DensityHigh, FiresAboveHalfAFullStepAndLingersBetweenTheLimits)
{
    AlertRun run(20); // anchors of a million bytes
    const auto publish = [&run](std::uint64_t bytes, int times) {
        for (int i = 0; i < times; ++i)
            run.publish().wireBytes = bytes;
    };
    publish(510'000, 4);
    ASSERT_EQ(findNow(run, "density-high").size(), 1U);
    EXPECT_FALSE(findNow(run, "density-high")[0].holds);
    publish(510'000, 1);
    const Finding found = findNow(run, "density-high").at(0);
    EXPECT_TRUE(found.holds);
    EXPECT_EQ(found.text, "Each of the last 5 deltas has more than 50.0 % of the bytes of a full step (1.0 MB).");
    EXPECT_DOUBLE_EQ(found.value.value_or(0), 51);
    publish(410'000, 5);
    EXPECT_FALSE(findNow(run, "density-high").at(0).holds);
    publish(399'000, 5);
    EXPECT_TRUE(findNow(run, "density-high").empty());
}

TEST(DensityHigh, JudgesByBytesNotByElements)
{
    AlertRun run(20);
    for (int i = 0; i < 5; ++i) {
        StepView& many = run.publish();
        many.changedFraction = 0.11;
        many.wireBytes = 200'000; // five times smaller than a full step
    }
    EXPECT_TRUE(findNow(run, "density-high").empty());
    for (int i = 0; i < 5; ++i) {
        StepView& large = run.publish();
        large.changedFraction.reset(); // not replayed: its size is known all the same
        large.wireBytes = 600'000;
    }
    EXPECT_EQ(findNow(run, "density-high").size(), 1U);
}

TEST(DensityHigh, TakesTheBaseWhereThereIsNoAnchorAndIsSilentWithoutEither)
{
    AlertRun run(0);
    for (int i = 0; i < 10; ++i)
        run.publish().wireBytes = 900'000;
    EXPECT_TRUE(findNow(run, "density-high").empty()) << "how large a full step is, nobody knows";
    run.view.baseBytes = 1'000'000;
    EXPECT_EQ(findNow(run, "density-high").size(), 1U);
    run.view.baseBytes = 0;
    EXPECT_TRUE(findNow(run, "density-high").empty());
}

TEST(DensityHigh, TakesNoAnchorThatIsNotWhole)
{
    AlertRun run(10);
    StepView& broken = run.publish("anchor");
    broken.state = "broken";
    broken.wireBytes = 100;
    StepView& growing = run.publish("anchor");
    growing.state = "publishing";
    growing.wireBytes = 100;
    run.publish("partial_anchor").wireBytes = 100;
    for (int i = 0; i < 5; ++i)
        run.publish();
    EXPECT_TRUE(findNow(run, "density-high").empty());
}

TEST(PauseLong, NamesTheSlowestReplica)
{
    AlertRun run(30);
    run.publish().pauseMs = 3000; // not above three times the usual
    EXPECT_TRUE(findNow(run, "pause-long").empty());
    run.publish().pauseMs = 4000;
    const std::int64_t end = run.newest().publishedUs + 20 * Second;
    run.view.spans = { { "r0", "pause", 0, 31, end - Second, end, 0 },
                       { "r2", "pause", 0, 31, end - 4 * Second, end, 0 } };
    const Findings found = findNow(run, "pause-long");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "r2 paused 4.0 s at step 31");
    EXPECT_EQ(found[0].replica, "r2");
    EXPECT_EQ(found[0].value, 4);
    for (int i = 0; i < 5; ++i)
        run.publish();
    EXPECT_TRUE(findNow(run, "pause-long").empty());
}

TEST(PauseLong, ShortPausesAreNoneHoweverUnusual)
{
    AlertRun run(0);
    for (int i = 0; i < 20; ++i)
        run.publish().pauseMs = 10;
    run.publish().pauseMs = 2000;
    EXPECT_TRUE(findNow(run, "pause-long").empty());
    run.publish().pauseMs = 2001;
    EXPECT_EQ(findNow(run, "pause-long").size(), 1U);
}

TEST(ReplicaLag, WarnsAtThreeAlarmsAtTenAndLingersAtTwo)
{
    AlertRun run(30);
    run.addReplica("r0", 1);
    run.addReplica("r1", 2);
    run.addReplica("r2", 3);
    run.addReplica("r3", 10);
    run.addReplica("gone", 20, "stopped");
    const Findings found = findNow(run, "replica-lag");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_FALSE(found[0].holds);
    EXPECT_TRUE(found[1].holds);
    EXPECT_EQ(found[1].level, AlertLevel::Warn);
    EXPECT_EQ(found[1].afterUs, 60 * Second);
    EXPECT_EQ(found[2].level, AlertLevel::Error);
    EXPECT_EQ(found[2].title, "r3 is 10 versions behind");
}

TEST(ReplicaForeign, KnowsThePastOfTheRun)
{
    AlertRun run(20);
    run.view.epochs[0].steps.erase(run.view.epochs[0].steps.begin(), run.view.epochs[0].steps.begin() + 10);
    run.addReplica("r0", 0);
    run.addReplica("old", 15); // was pruned
    run.addReplica("ahead", -1);
    const Findings found = findNow(run, "replica-foreign");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].replica, "ahead");
    EXPECT_EQ(found[0].text, "ahead says that it serves step 20, which is not in this run.");
}

TEST(ReplicaPoisoned, IsTheReplicasOwnWord)
{
    AlertRun run(20);
    run.addReplica("r0", 0, "poisoned");
    run.view.replicas[0].detail = "apply failed in layer 3";
    ASSERT_EQ(findNow(run, "replica-poisoned").size(), 1U);
    EXPECT_EQ(findNow(run, "replica-poisoned")[0].text, "apply failed in layer 3");
}

TEST(AnchorOverdue, ComparesWithTheUsualDistance)
{
    AlertRun run(31); // nine deltas between anchors, one anchor at the end
    for (int i = 0; i < 18; ++i)
        run.publish();
    EXPECT_TRUE(findNow(run, "anchor-overdue").empty());
    run.publish();
    EXPECT_EQ(findNow(run, "anchor-overdue").size(), 1U);
    run.publish("anchor");
    EXPECT_TRUE(findNow(run, "anchor-overdue").empty());
}

TEST(Storage, LooksADayAhead)
{
    AlertRun run(60);
    for (StepView& step : run.view.epochs[0].steps)
        step.wireBytes = 1'000'000; // every ten seconds: 8.64 GB a day
    run.view.wireBytes = 60'000'000;
    EXPECT_TRUE(findNow(run, "storage", 9).empty());
    ASSERT_EQ(findNow(run, "storage", 8).size(), 1U);
    EXPECT_EQ(findNow(run, "storage", 8)[0].title, "The run will reach its limit within a day");
    EXPECT_EQ(findNow(run, "storage", 0.05)[0].title, "The run is larger than its limit");
    EXPECT_NEAR(findNow(run, "storage", 8)[0].value.value(), 8.7, 0.01) << "what is compared with the limit";
    EXPECT_TRUE(findAt(run, "storage", run.nowUs() + 90'000 * Second, 8).empty()) << "nothing grows any more";
}

TEST(Storage, TakesNoGrowthFromTheTimesOfACopy)
{
    AlertRun run(60);
    for (StepView& step : run.view.epochs[0].steps)
        step.publishedUs = run.view.epochs[0].steps[0].publishedUs + step.step * 1000;
    EXPECT_TRUE(findNow(run, "storage", 8).empty());
    EXPECT_EQ(findNow(run, "storage", 0.001).size(), 1U);
}

TEST(ClockSkew, ComparesTheStoreTheReplicasAndThePublisher)
{
    AlertRun run(20);
    run.addReplica("r0", 0);
    run.view.replicas[0].ageSeconds = -31;
    run.addReplica("r1", 0);
    run.view.replicas[1].ageSeconds = -11;
    const std::int64_t published = run.newest().publishedUs;
    run.view.spans = { { "trainer", "upload", 0, 19, published - 100 * Second, published - 90 * Second, 1 } };
    Findings found = findAt(run, "clock-skew", published);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].subject, "r0");
    EXPECT_TRUE(found[0].holds);
    EXPECT_FALSE(found[1].holds);
    EXPECT_EQ(found[2].value, 90);
    run.view.replicas.clear();
    run.view.spans.clear();
    found = findAt(run, "clock-skew", published - 40 * Second);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "the store");
}

TEST(VerifyBehind, CountsFromTheNewestVerifiedStep)
{
    AlertRun run(250);
    EXPECT_TRUE(findNow(run, "verify-behind").empty()) << "nobody verifies this run";
    run.verified[{ 0, 48 }] = { 2, "verified", Begin };
    ASSERT_EQ(findNow(run, "verify-behind").size(), 1U);
    EXPECT_TRUE(findNow(run, "verify-behind")[0].holds);
    run.verified[{ 0, 149 }] = { 2, "verified", Begin };
    EXPECT_FALSE(findNow(run, "verify-behind").at(0).holds);
    run.verified[{ 0, 150 }] = { 2, "verified", Begin };
    EXPECT_TRUE(findNow(run, "verify-behind").empty());
}

TEST(AlertTitles, StayShortWhateverNamesAre)
{
    AlertRun run(30);
    std::string name;
    while (name.size() < 300)
        name += "名";
    run.addReplica(name, 12);
    run.addReplica(name + "2", -3);
    run.addReplica(name + "3", 0, "poisoned");
    run.addReplica(name + "4", 0, "digest-mismatch");
    std::size_t found = 0;
    for (const Rule& rule : alertRules()) {
        for (const Finding& finding : rule.find({ run.view, {}, run.nowUs(), rule.threshold.value_or(1e6) })) {
            ++found;
            EXPECT_LT(finding.title.size(), 64U) << finding.title;
        }
    }
    EXPECT_EQ(found, 4U);
}

} // namespace
} // namespace deltascope::app
