#include "deltascope/app/alerts.h"

#include "deltascope/app/view/json.h"

#include "alert_run.h"
#include "support/sanitizer.h"
#include "support/temp_dir.h"
#include "support/times.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// What becomes of what rules find: alerts that fire, repeat, are acknowledged and clear; messages; the past.

namespace deltascope::app {
namespace {

using Json = nlohmann::json;
using Kind = AlertChange::Kind;

using test::Minute;
using test::Second;

/// A run in which nothing changes but what a test sets; looked at by one rule at a time.
class Alerting : public testing::Test {
protected:
    Alerting()
        : m_run(30)
    {
        EXPECT_TRUE(m_engine.set("publish-stalled", false, {})); // time passes here without a step
    }

    /// The changes of one rule when the run is looked at, so long after its begin.
    std::vector<AlertChange> look(std::int64_t afterUs, const std::string& rule)
    {
        std::vector<AlertChange> changes = m_engine.update(m_run.snapshot(), m_run.nowUs() + afterUs);
        std::erase_if(changes, [&](const AlertChange& change) { return change.alert.rule != rule; });
        return changes;
    }
    std::vector<AlertChange> lookAtPoison(std::int64_t afterUs, bool isPoisoned)
    {
        m_run.view.replicas.clear();
        m_run.addReplica("r0", 0, isPoisoned ? "poisoned" : "serving");
        return look(afterUs, "replica-poisoned");
    }
    const AlertView& only(const AlertListView& list) const
    {
        EXPECT_EQ(list.alerts.size(), 1U);
        return list.alerts.at(0);
    }

    AlertRun m_run;
    AlertEngine m_engine;
};

TEST_F(Alerting, FiresOnceGoesOnAndClears)
{
    std::vector<AlertChange> changes = lookAtPoison(0, true);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Fired);
    EXPECT_TRUE(changes[0].notify);
    const std::string id = changes[0].alert.id;
    EXPECT_TRUE(lookAtPoison(10 * Second, true).empty()) << "nothing new";
    EXPECT_EQ(only(m_engine.list("wordle")).lastUs, m_run.nowUs() + 10 * Second);
    EXPECT_EQ(only(m_engine.list("wordle")).count, 1U);

    changes = lookAtPoison(20 * Second, false);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Cleared);
    EXPECT_TRUE(changes[0].notify);
    const AlertView cleared = only(m_engine.list(""));
    EXPECT_EQ(cleared.id, id);
    EXPECT_EQ(cleared.state, AlertState::Cleared);
    EXPECT_EQ(cleared.clearedUs, m_run.nowUs() + 20 * Second);
    EXPECT_EQ(cleared.firstUs, m_run.nowUs());
    EXPECT_TRUE(m_engine.list("another").alerts.empty());
}

TEST_F(Alerting, WaitsAsLongAsARuleWantsWithoutABreak)
{
    m_run.addReplica("r0", 4);
    EXPECT_TRUE(look(0, "replica-lag").empty());
    EXPECT_EQ(m_engine.waiting(m_run.snapshot().id), std::vector<std::string> { "replica-lag" });
    EXPECT_TRUE(look(59 * Second, "replica-lag").empty());
    m_run.view.replicas[0].behind = 2; // lingers: not over the limit any more
    EXPECT_TRUE(look(60 * Second, "replica-lag").empty());
    EXPECT_TRUE(m_engine.waiting(m_run.snapshot().id).empty());
    m_run.view.replicas[0].behind = 4;
    EXPECT_TRUE(look(61 * Second, "replica-lag").empty());
    EXPECT_TRUE(look(120 * Second, "replica-lag").empty());
    const std::vector<AlertChange> changes = look(121 * Second, "replica-lag");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(m_engine.waiting(m_run.snapshot().id).empty());
    EXPECT_EQ(changes[0].alert.firstUs, m_run.nowUs() + 61 * Second);
    EXPECT_EQ(changes[0].alert.replica, "r0");
    EXPECT_EQ(changes[0].alert.value, 4);
    EXPECT_EQ(changes[0].alert.threshold, 3);
}

TEST_F(Alerting, ClearsOnlyWhenAllIsWellAgain)
{
    m_run.addReplica("r0", 4);
    look(0, "replica-lag");
    ASSERT_EQ(look(Minute, "replica-lag").size(), 1U);
    m_run.view.replicas[0].behind = 2;
    EXPECT_TRUE(look(2 * Minute, "replica-lag").empty());
    EXPECT_EQ(only(m_engine.list("")).state, AlertState::Firing);
    m_run.view.replicas[0].behind = 1;
    EXPECT_EQ(look(3 * Minute, "replica-lag").at(0).kind, Kind::Cleared);
}

TEST_F(Alerting, SaysWhenItGetsWorseAndWhenItHappensAgain)
{
    m_run.addReplica("r0", 4);
    look(0, "replica-lag");
    look(Minute, "replica-lag");
    m_run.view.replicas[0].behind = 11;
    std::vector<AlertChange> changes = look(Minute + Second, "replica-lag");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Repeated);
    EXPECT_EQ(changes[0].alert.level, AlertLevel::Error);
    EXPECT_TRUE(changes[0].notify) << "worse is told at once";
    m_run.view.replicas[0].behind = 12;
    changes = look(Minute + 2 * Second, "replica-lag");
    ASSERT_EQ(changes.size(), 1U) << "the text has changed";
    EXPECT_FALSE(changes[0].notify);
    EXPECT_EQ(changes[0].alert.count, 2U);

    m_run.newest().pauseMs = 5000;
    EXPECT_EQ(look(0, "pause-long").at(0).kind, Kind::Fired);
    m_run.publish().pauseMs = 6000;
    changes = look(0, "pause-long");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].alert.step, 30);
    EXPECT_EQ(changes[0].alert.count, 2U);
    EXPECT_FALSE(changes[0].notify) << "within a minute of the first message";
}

TEST_F(Alerting, SaysNothingWhileSnoozedAndSpeaksAgainIfItStillFires)
{
    m_run.addReplica("r0", 4);
    look(0, "replica-lag");
    const std::string id = look(Minute, "replica-lag").at(0).alert.id;
    const std::int64_t until = m_run.nowUs() + 61 * Minute;
    EXPECT_EQ(m_engine.snooze(id, until)->snoozedUntilUs, until);
    m_run.view.replicas[0].behind = 11;
    std::vector<AlertChange> changes = look(2 * Minute, "replica-lag");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].alert.level, AlertLevel::Error);
    EXPECT_FALSE(changes[0].notify) << "even though it got worse";
    EXPECT_TRUE(look(60 * Minute, "replica-lag").empty());
    changes = look(61 * Minute, "replica-lag");
    ASSERT_EQ(changes.size(), 1U) << "the hour is over";
    EXPECT_TRUE(changes[0].notify);
    EXPECT_EQ(m_engine.snooze("nobody", until).error().code, Code::NotFound);
}

TEST_F(Alerting, SnoozedUntilItClearsItEndsInSilenceAndTheNextOneSpeaks)
{
    const std::string id = lookAtPoison(0, true).at(0).alert.id;
    ASSERT_TRUE(m_engine.snooze(id, UntilCleared));
    std::vector<AlertChange> changes = lookAtPoison(Minute, false);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_FALSE(changes[0].notify);
    changes = lookAtPoison(10 * Minute, true);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes[0].notify);
    EXPECT_FALSE(changes[0].alert.snoozedUntilUs);
}

TEST_F(Alerting, ForgetsARunWithAllItsAlerts)
{
    lookAtPoison(0, true);
    lookAtPoison(Minute, false);
    lookAtPoison(2 * Minute, true);
    EXPECT_EQ(m_engine.list("wordle").alerts.size(), 2U);
    m_engine.forget("wordle");
    EXPECT_TRUE(m_engine.list("").alerts.empty());
}

TEST_F(Alerting, TellsAgainAfterAMinuteTenMinutesAndAnHour)
{
    // The condition comes and goes every second.
    std::vector<std::int64_t> told;
    for (std::int64_t second = 0; second < 3 * 3600; second += 2) {
        for (const AlertChange& change : lookAtPoison(second * Second, true)) {
            if (change.notify)
                told.push_back(second);
        }
        lookAtPoison((second + 1) * Second, false);
    }
    EXPECT_EQ(told, (std::vector<std::int64_t> { 0, 60, 660, 4260, 7860 }));
    EXPECT_EQ(m_engine.list("").alerts.size(), 1000U) << "the past is bounded";
}

TEST_F(Alerting, WhatWasHeldBackIsToldLater)
{
    lookAtPoison(0, true);
    lookAtPoison(Second, false);
    EXPECT_FALSE(lookAtPoison(2 * Second, true).at(0).notify);
    EXPECT_TRUE(lookAtPoison(59 * Second, true).empty());
    const std::vector<AlertChange> changes = lookAtPoison(60 * Second, true);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes[0].notify);
    EXPECT_EQ(changes[0].alert.count, 1U);
}

TEST_F(Alerting, AcknowledgedIsSilentUntilItGetsWorse)
{
    m_run.addReplica("r0", 4);
    look(0, "replica-lag");
    const std::string id = look(Minute, "replica-lag").at(0).alert.id;
    const Result<AlertView> acked = m_engine.acknowledge(id);
    ASSERT_TRUE(acked);
    EXPECT_EQ(acked->state, AlertState::Acked);
    EXPECT_TRUE(m_engine.acknowledge(id)) << "twice is no error";
    m_run.view.replicas[0].behind = 5;
    EXPECT_FALSE(look(2 * Minute, "replica-lag").at(0).notify);
    m_run.view.replicas[0].behind = 10;
    const std::vector<AlertChange> changes = look(3 * Minute, "replica-lag");
    EXPECT_EQ(changes.at(0).alert.state, AlertState::Firing);
    EXPECT_TRUE(changes.at(0).notify);

    ASSERT_TRUE(m_engine.acknowledge(id));
    m_run.view.replicas.clear();
    EXPECT_FALSE(look(4 * Minute, "replica-lag").at(0).notify);
    EXPECT_EQ(m_engine.acknowledge(id)->state, AlertState::Cleared);
    EXPECT_EQ(m_engine.acknowledge("no-such").error().code, Code::NotFound);
}

TEST_F(Alerting, RulesCanBeSwitchedAndSet)
{
    ASSERT_EQ(lookAtPoison(0, true).size(), 1U);
    ASSERT_TRUE(m_engine.set("replica-poisoned", false, std::nullopt));
    EXPECT_EQ(lookAtPoison(Second, true).at(0).kind, Kind::Cleared);
    EXPECT_TRUE(lookAtPoison(2 * Second, true).empty());

    m_run.addReplica("r1", 2);
    ASSERT_TRUE(m_engine.set("replica-lag", true, 2));
    look(0, "replica-lag");
    EXPECT_EQ(look(Minute, "replica-lag").size(), 1U);
    ASSERT_TRUE(m_engine.set("replica-lag", true, 1.5));
    look(2 * Minute, "replica-lag");
    EXPECT_EQ(m_engine.list("").alerts.at(0).threshold, 1.5) << "what its value is compared with now";
    ASSERT_TRUE(m_engine.set("replica-lag", true, std::nullopt));
    EXPECT_EQ(m_engine.list("").rules.at(9).id, "replica-lag");
    EXPECT_EQ(m_engine.list("").rules.at(9).threshold, 3) << "the default is back";

    EXPECT_EQ(m_engine.set("no-such", true, {}).error().code, Code::NotFound);
    EXPECT_EQ(m_engine.set("replica-poisoned", true, 3).error().code, Code::Usage);
    EXPECT_EQ(m_engine.set("replica-lag", true, -1).error().code, Code::Usage);
    EXPECT_EQ(m_engine.set("replica-lag", true, std::nan("")).error().code, Code::Usage);
}

TEST_F(Alerting, HowRulesAreSetOutlivesTheProgram)
{
    const test::TempDir folder;
    const std::string file = folder.path("state/alert-rules.json");
    const auto settingOf = [](const AlertEngine& engine, std::string_view rule) {
        const std::vector<AlertRuleView> rules = engine.list({}).rules;
        const auto found = std::find_if(rules.begin(), rules.end(), [&](auto& one) { return one.id == rule; });
        return std::pair(found->on, found->threshold);
    };
    {
        AlertEngine engine(file);
        EXPECT_TRUE(engine.set("storage", true, 1000));
        EXPECT_TRUE(engine.set("chain-gap", false, {}));
        AlertEngine other(file);
        EXPECT_TRUE(other.set("replica-lag", true, 1.5));
    }
    const AlertEngine again(file);
    EXPECT_EQ(settingOf(again, "storage"), std::pair(true, std::optional(1000.0)));
    EXPECT_FALSE(settingOf(again, "chain-gap").first);
    EXPECT_EQ(settingOf(again, "replica-lag").second, 1.5);
    EXPECT_EQ(settingOf(again, "pause-long"), settingOf(AlertEngine(), "pause-long"));

    std::ofstream(file) << "nonsense";
    AlertEngine broken(file);
    const Result<void> set = broken.set("storage", true, 5);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, Code::Hostile);
    EXPECT_EQ(set.error().where, file);
    EXPECT_EQ(settingOf(broken, "storage").second, 5.0) << "it is set all the same";
}

TEST_F(Alerting, StorageRestsUntilALimitIsSet)
{
    EXPECT_TRUE(look(0, "storage").empty());
    ASSERT_TRUE(m_engine.set("storage", true, 0.01));
    EXPECT_EQ(look(0, "storage").size(), 1U);
}

TEST_F(Alerting, RunsAreApartAndARunThatIsNotOpenChangesNothing)
{
    lookAtPoison(0, true);
    RunSnapshot other = m_run.snapshot();
    other.id = "other";
    EXPECT_EQ(m_engine.update(other, m_run.nowUs()).size(), 1U);
    EXPECT_EQ(m_engine.list("other").alerts.size(), 1U);
    EXPECT_EQ(m_engine.list("").alerts.size(), 2U);
    other.run = nullptr;
    EXPECT_TRUE(m_engine.update(other, m_run.nowUs()).empty());
    EXPECT_EQ(m_engine.list("other").alerts.at(0).state, AlertState::Firing);
}

TEST_F(Alerting, AreBoundedWhereEverythingIsWrong)
{
    for (int i = 0; i < 1000; ++i)
        m_run.addReplica("r" + std::to_string(i), 0, "poisoned");
    const std::vector<AlertChange> changes = look(0, "replica-poisoned");
    ASSERT_EQ(changes.size(), 101U);
    EXPECT_EQ(changes.back().alert.title.substr(0, 27), "900 more, the newest of the");
}

TEST_F(Alerting, OfTooManyTheNewestIsToldAndNoneIsClearedThatHolds)
{
    const auto damage = [&](std::int64_t step) {
        StepView& damaged = m_run.view.epochs[0].steps.at(std::size_t(step));
        damaged.state = "broken";
        damaged.problems = { ProblemView { "DS-TRUNCATED", step, "key", "the file is cut short", {} } };
    };
    m_run = AlertRun(300);
    for (std::int64_t step = 100; step < 200; ++step)
        damage(step);
    ASSERT_EQ(look(0, "digest-mismatch").size(), 100U);
    EXPECT_TRUE(look(Second, "digest-mismatch").empty());

    damage(10);
    std::vector<AlertChange> changes = look(2 * Second, "digest-mismatch");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Fired);
    EXPECT_EQ(changes[0].alert.title, "1 more, the newest of them: Step 10 is damaged");

    damage(290);
    changes = look(2 * Minute, "digest-mismatch");
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Repeated);
    EXPECT_TRUE(changes[0].notify);
    EXPECT_EQ(changes[0].alert.title, "2 more, the newest of them: Step 290 is damaged");
    EXPECT_EQ(changes[0].alert.step, 290);
}

TEST_F(Alerting, OfARuleThatIsSwitchedOffNobodyHearsThatAllIsWell)
{
    ASSERT_TRUE(lookAtPoison(0, true).at(0).notify);
    ASSERT_TRUE(m_engine.set("replica-poisoned", false, {}));
    std::vector<AlertChange> changes = lookAtPoison(Second, true);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::Cleared);
    EXPECT_EQ(changes[0].alert.text.substr(0, 27), "The rule was switched off, ");
    ASSERT_TRUE(m_engine.set("replica-poisoned", true, {}));
    changes = lookAtPoison(2 * Second, true);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes[0].notify) << "the last that people heard is that nobody looks";
}

TEST_F(Alerting, TheRevisionGrowsWithChangesOnly)
{
    lookAtPoison(0, false);
    const std::uint64_t before = m_engine.list("").revision;
    lookAtPoison(0, false);
    EXPECT_EQ(m_engine.list("").revision, before);
    lookAtPoison(0, true);
    EXPECT_GT(m_engine.list("").revision, before);
}

TEST_F(Alerting, WriteTheContract)
{
    EXPECT_TRUE(m_engine.set("publish-stalled", true, {}));
    m_run.newest().pauseMs = 4000;
    m_run.addReplica("r2", 6);
    m_engine.update(m_run.snapshot(), m_run.nowUs());
    m_engine.update(m_run.snapshot(), m_run.nowUs() + Minute);
    m_run.newest().pauseMs = 1000;
    m_engine.update(m_run.snapshot(), m_run.nowUs() + Minute + Second);
    AlertListView list = m_engine.list("wordle");
    list.channels = { { "slack", "https://hooks.slack.com", AlertLevel::Error, 41, 2, false, 1'787'314'985'000'000,
                        "the server answers with status 404" } };
    std::ifstream file(DELTASCOPE_GOLDEN_DIR "/view/alerts.json");
    EXPECT_EQ(Json::parse(toJson(list)), Json::parse(file));
    EXPECT_EQ(Json::parse(toJson(list.alerts.at(0))), Json::parse(toJson(list)).at("alerts").at(0));
}

TEST_F(Alerting, ABacktestFindsEachTimeThatARuleWouldHaveFired)
{
    AlertRun run(30);
    run.publish().pauseMs = 4000; // step 30
    for (int i = 0; i < 10; ++i)
        run.publish();
    run.publish().pauseMs = 5000; // step 41
    const Result<BacktestView> result = m_engine.backtest(run.snapshot(), "pause-long");
    ASSERT_TRUE(result);
    ASSERT_EQ(result->fired.size(), 2U);
    EXPECT_EQ(result->fired[0].step, 30);
    EXPECT_EQ(result->fired[0].tUs, run.view.epochs[0].steps[30].publishedUs);
    EXPECT_EQ(result->fired[1].step, 41);
    EXPECT_TRUE(m_engine.backtest(run.snapshot(), "density-shift")->fired.empty());
    EXPECT_TRUE(m_engine.list("").alerts.empty()) << "it leaves no trace";
    EXPECT_EQ(m_engine.backtest(run.snapshot(), "no-such").error().code, Code::NotFound);
    EXPECT_EQ(Json::parse(toJson(*result)).at("fired").at(0).at("step"), 30);
}

TEST_F(Alerting, ABacktestBeginsBeforeAnyStepAlsoWhereTheNewestOneIsGone)
{
    AlertRun run(5);
    run.view.problems.push_back({ "DS-VANISHED", 5, "deltas/5", "step 5 was here and is gone", "put it back" });
    ASSERT_TRUE(m_engine.backtest(run.snapshot(), "chain-gap"));
    AlertRun empty(0);
    empty.view.problems = run.view.problems;
    const Result<BacktestView> nothing = m_engine.backtest(empty.snapshot(), "chain-gap");
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->fired.empty());
}

TEST_F(Alerting, ABacktestKnowsTheBase)
{
    AlertRun run(0);
    for (int i = 0; i < 5; ++i)
        run.publish();
    EXPECT_TRUE(m_engine.backtest(run.snapshot(), "density-high")->fired.empty());
    run.view.baseBytes = 150'000;
    EXPECT_EQ(m_engine.backtest(run.snapshot(), "density-high")->fired.size(), 1U);
}

TEST_F(Alerting, ABacktestSeesSilenceBetweenSteps)
{
    AlertRun run(30);
    const std::int64_t before = run.newest().publishedUs;
    run.publish().publishedUs = before + 300 * Second;
    run.publish();
    const Result<BacktestView> result = m_engine.backtest(run.snapshot(), "publish-stalled");
    ASSERT_EQ(result->fired.size(), 1U);
    EXPECT_EQ(result->fired[0].step, 29);
    EXPECT_EQ(result->fired[0].tUs, before + 300 * Second - 1);
    ASSERT_TRUE(m_engine.set("publish-stalled", false, 40));
    EXPECT_TRUE(m_engine.backtest(run.snapshot(), "publish-stalled")->fired.empty())
        << "by the threshold as it is set, on or off";
}

TEST_F(Alerting, ABacktestTakesReplicasFromTheirSpans)
{
    AlertRun run(40);
    for (std::int64_t step = 0; step < 40; ++step) {
        const std::int64_t loaded = run.view.epochs[0].steps[static_cast<std::size_t>(step)].publishedUs + Second;
        run.view.spans.push_back({ "r0", "pause", 0, step, loaded - Second, loaded, 0 });
        if (step < 10 || step > 30)
            run.view.spans.push_back({ "r1", "pause", 0, step, loaded - Second, loaded, 0 });
    }
    const Result<BacktestView> result = m_engine.backtest(run.snapshot(), "replica-lag");
    ASSERT_EQ(result->fired.size(), 1U);
    EXPECT_EQ(result->fired[0].tUs, run.view.epochs[0].steps[18].publishedUs)
        << "step 12 is the third that r1 does not serve; a minute later it fires";
}

TEST_F(Alerting, ABacktestOfALongSoundRunFindsNothing)
{
    const AlertRun run(test::UnderSanitizer ? 500 : 3'000);
    for (const AlertRuleView& rule : m_engine.list("").rules)
        EXPECT_TRUE(m_engine.backtest(run.snapshot(), rule.id)->fired.empty()) << rule.id;
}

} // namespace
} // namespace deltascope::app
