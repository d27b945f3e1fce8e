#include "monitor/followed_run.h"

#include "run_views.h"

#include <gtest/gtest.h>

namespace deltascope::app {
namespace {

class FollowedRunTest : public testing::Test {
protected:
    /// The run with step 1 as it was written at `modifiedUs`, looked at when it is `nowUs`.
    void look(std::int64_t modifiedUs, std::int64_t nowUs)
    {
        StepView step = stepView(1, "anchor");
        step.objects.resize(1);
        step.objects.front().key = "anchors/step_000001.safetensors";
        step.objects.front().sizeBytes = 1000;
        step.objects.front().modifiedUs = modifiedUs;
        RunChanged changed;
        changed.run = std::make_shared<const RunView>(runView({ { stepView(0, "anchor"), step } }));
        m_run.take(changed, nowUs);
    }
    void verdict(const char* result, int level, std::int64_t beganUs, std::int64_t nowUs)
    {
        VerifyView view;
        view.level = level;
        StepVerdictView& step = view.steps.emplace_back();
        step.step = 1;
        step.result = result;
        m_run.addVerdicts(view, beganUs, nowUs);
    }
    std::string known() const
    {
        const auto verified = m_run.snapshot()->verified.find({ 0, 1 });
        return verified == m_run.snapshot()->verified.end() ? std::string() : verified->second.result;
    }

    using Clock = FollowedRun::Clock;
    /// Seconds from a failure to the next try, one after the other.
    std::vector<std::int64_t> pauses(std::size_t failures)
    {
        constexpr std::int64_t First = 5;
        std::vector<std::int64_t> pauses;
        Clock::time_point now {};
        for (std::size_t i = 0; i < failures; ++i) {
            m_run.takeFailure(Error { Code::Transient, "out of reach", {}, {}, {} }, now);
            std::int64_t pause = 0;
            while (!m_run.wantsRetry(now + std::chrono::milliseconds(1), std::chrono::seconds(First))) {
                now += std::chrono::seconds(1);
                ++pause;
            }
            pauses.push_back(pause);
        }
        return pauses;
    }

    FollowedRun m_run { "wordle", "wordle", {}, false };
};

TEST_F(FollowedRunTest, ASourceThatIsOutOfReachIsTriedLessAndLessOften)
{
    EXPECT_EQ(pauses(9), (std::vector<std::int64_t> { 5, 10, 20, 40, 80, 160, 300, 300, 300 }));
}

TEST_F(FollowedRunTest, ASourceThatWasReadBeforeIsTriedEveryHalfMinute)
{
    pauses(9);
    look(10, 100);
    EXPECT_EQ(pauses(5), (std::vector<std::int64_t> { 5, 10, 20, 30, 30 }));
    look(10, 200);
    EXPECT_EQ(pauses(2), (std::vector<std::int64_t> { 5, 10 }));
}

TEST_F(FollowedRunTest, AVerdictHoldsWhileTheObjectsStay)
{
    look(10, 100);
    verdict("verified", 2, 150, 200);
    EXPECT_EQ(known(), "verified");
    look(10, 300);
    EXPECT_EQ(known(), "verified");
    look(20, 400);
    EXPECT_EQ(known(), "");
}

TEST_F(FollowedRunTest, AVerdictHoldsWhileTheObjectsThatItBuildsOnStay)
{
    const auto look = [&](std::int64_t modifiedUs, std::int64_t nowUs) {
        StepView anchor = stepView(0, "anchor");
        anchor.objects.resize(1);
        anchor.objects.front().modifiedUs = modifiedUs;
        StepView first = stepView(1, "delta");
        first.baseStep = 0;
        StepView second = stepView(2, "delta");
        second.baseStep = 1;
        RunChanged changed;
        changed.run = std::make_shared<const RunView>(runView({ { anchor, first, second, stepView(3, "anchor") } }));
        m_run.take(changed, nowUs);
    };
    look(10, 100);
    VerifyView view;
    view.level = 3;
    for (std::int64_t step = 0; step <= 3; ++step) {
        view.steps.emplace_back().step = step;
        view.steps.back().result = "first_sight";
    }
    m_run.addVerdicts(view, 150, 200);
    look(10, 250);
    EXPECT_EQ(m_run.snapshot()->verified.size(), 4U);
    look(20, 300);
    ASSERT_EQ(m_run.snapshot()->verified.size(), 1U);
    EXPECT_TRUE(m_run.snapshot()->verified.contains({ 0, 3 }));
    m_run.addVerdicts(view, 250, 350);
    EXPECT_EQ(m_run.snapshot()->verified.size(), 1U) << "it began before the change";
    m_run.addVerdicts(view, 350, 400);
    EXPECT_EQ(m_run.snapshot()->verified.size(), 4U);
}

TEST_F(FollowedRunTest, AVerificationThatBeganBeforeAChangeProvesNothing)
{
    look(10, 100);
    look(20, 300);
    verdict("verified", 2, 250, 350); // may have read what was there before
    EXPECT_EQ(known(), "");
    verdict("damaged", 2, 300, 400);
    EXPECT_EQ(known(), "damaged");
}

TEST_F(FollowedRunTest, AClockThatIsSetBackMakesNoVerdictOlderOrNewer)
{
    look(10, 100);
    look(20, 50);
    verdict("verified", 2, 100, 60); // began before the second look
    EXPECT_EQ(known(), "");
    verdict("verified", 2, 101, 70);
    EXPECT_EQ(known(), "verified");
}

TEST_F(FollowedRunTest, ADeeperVerdictOrDamageReplacesOneBefore)
{
    look(10, 100);
    verdict("verified", 3, 100, 200);
    verdict("consistent", 2, 210, 220);
    EXPECT_EQ(known(), "verified");
    verdict("damaged", 1, 230, 240);
    EXPECT_EQ(known(), "damaged");
}

TEST_F(FollowedRunTest, AVerdictKeepsItsGravestProblem)
{
    look(10, 100);
    VerifyView view;
    view.level = 2;
    const auto problem = [](const char* code) { return ProblemView { code, 1, {}, {}, {} }; };
    StepVerdictView& step = view.steps.emplace_back();
    step.step = 1;
    step.result = "unverified";
    step.problems = { problem("DS-STRAY"), problem("DS-CATALOG"), problem("DS-REWRITTEN") };
    m_run.addVerdicts(view, 100, 200);
    EXPECT_EQ(m_run.snapshot()->verified.at({ 0, 1 }).problem->code, "DS-REWRITTEN");
    view.steps.front().problems = { problem("DS-STRAY"), problem("DS-CATALOG") };
    m_run.addVerdicts(view, 200, 300);
    EXPECT_EQ(m_run.snapshot()->verified.at({ 0, 1 }).problem->code, "DS-CATALOG");
    view.steps.front().problems = { problem("DS-STRAY") };
    m_run.addVerdicts(view, 300, 400);
    EXPECT_EQ(m_run.snapshot()->verified.at({ 0, 1 }).problem, std::nullopt) << "only a notice";
}

TEST_F(FollowedRunTest, AStepThatIsGoneTakesItsVerdictAlong)
{
    look(10, 100);
    verdict("verified", 2, 100, 200);
    RunChanged changed;
    changed.run = std::make_shared<const RunView>(runView({ { stepView(0, "anchor") } }));
    m_run.take(changed, 300);
    EXPECT_EQ(known(), "");
    verdict("verified", 2, 310, 320);
    EXPECT_EQ(known(), "");
}

TEST_F(FollowedRunTest, TellsWhatIsReadBeforeTheRunIsThere)
{
    EXPECT_TRUE(m_run.takeProgress("listing: 1000 objects, up to deltas/step_000999"));
    EXPECT_EQ(m_run.snapshot()->opening, "listing: 1000 objects, up to deltas/step_000999");
    EXPECT_EQ(m_run.snapshot()->state, "opening");
    const std::uint64_t revision = m_run.snapshot()->revision;
    EXPECT_FALSE(m_run.takeProgress("listing: 1000 objects, up to deltas/step_000999"));
    EXPECT_EQ(m_run.snapshot()->revision, revision) << "nothing is new";
    look(10, 100);
    EXPECT_EQ(m_run.snapshot()->opening, "");
    EXPECT_FALSE(m_run.takeProgress("listing")) << "a run that is shown is not being opened";
    EXPECT_EQ(m_run.snapshot()->opening, "");
}

} // namespace
} // namespace deltascope::app
