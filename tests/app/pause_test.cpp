#include "view/make_views.h"

#include "support/times.h"

#include <gtest/gtest.h>

// Which pause a step has: spans beside the run, spans of logs, several epochs.

namespace deltascope::app {
namespace {

using test::Begin;
using test::Hour;
using test::Minute;
using test::Second;

/// A run with these steps, published a minute after each other.
void publish(Run& run, int epoch, std::int64_t beginUs, std::initializer_list<std::int64_t> steps)
{
    for (const std::int64_t step : steps) {
        Version version;
        version.epoch = epoch;
        version.objects.step = step;
        ObjectInfo object;
        object.modifiedUs = beginUs + step * Minute;
        version.objects.objects.push_back(object);
        run.versions.push_back(version);
    }
}

Span pause(std::string actor, std::int64_t step, std::int64_t endUs, std::int64_t lengthUs, int epoch = 0)
{
    return Span { std::move(actor), "pause", step, epoch, endUs - lengthUs, endUs, 0, {} };
}

Span undated(std::int64_t step, std::int64_t lengthUs) { return Span { "log", "pause", step, 0, 0, lengthUs, 0, {} }; }

StepView stepOf(const Pauses& pauses, int epoch, std::int64_t step)
{
    StepView view;
    view.epoch = epoch;
    view.step = step;
    addPause(view, pauses);
    return view;
}

class Pausing : public testing::Test {
protected:
    void SetUp() override { publish(m_run, 0, Begin, { 1, 2, 3 }); }
    Pauses pauses() const { return pausesOf(m_run, m_trace, m_logged); }

    deltascope::Run m_run;
    Trace m_trace;
    std::vector<Span> m_logged;
};

TEST_F(Pausing, IsUnknownWhereNobodyTells)
{
    m_logged = { pause("log", 2, Begin + 130 * Second, Second), pause("log", 9, Begin, Second),
                 pause("log", -1, Begin, Second) };
    EXPECT_FALSE(stepOf(pauses(), 0, 1).pauseMs);
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 1000);
    EXPECT_TRUE(stepOf(pauses(), 0, 2).pauseIsLogged);
}

TEST_F(Pausing, OtherPhasesAreNone)
{
    m_logged = { pause("log", 2, Begin + 130 * Second, Second) };
    m_logged.front().phase = "apply";
    EXPECT_FALSE(stepOf(pauses(), 0, 2).pauseMs);
}

TEST_F(Pausing, TheSlowestEngineCounts)
{
    m_trace.spans = { pause("r0", 2, Begin, Second), pause("r1", 2, Begin, 3 * Second) };
    m_logged = { pause("vllm", 2, Begin + 130 * Second, 2 * Second), pause("vllm", 3, Begin + 190 * Second, 0) };
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 3000);
    EXPECT_FALSE(stepOf(pauses(), 0, 2).pauseIsLogged);
    EXPECT_EQ(stepOf(pauses(), 0, 3).pauseMs, 0);
    EXPECT_TRUE(stepOf(pauses(), 0, 3).pauseIsLogged);
}

TEST_F(Pausing, AllPausesOfAnEngineForAStepCountTogether)
{
    m_trace.spans = { pause("r0", 2, Begin, 2 * Second), pause("r1", 2, Begin, Second),
                      pause("r1", 2, Begin + 5 * Second, Second), pause("r1", 2, Begin + 5 * Second, Second),
                      pause("r1", 2, Begin + 6 * Second, 2 * Second) };
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 3000) << "of r1, whose last ones overlap";
}

TEST_F(Pausing, TimesThatCannotBeThoseOfAPauseTellNothing)
{
    m_trace.spans = { undated(1, Begin), pause("r0", 2, Begin, 31 * 24 * Hour), pause("r0", 3, Begin * 9, Second) };
    for (const std::int64_t step : { 1, 2, 3 })
        EXPECT_FALSE(stepOf(pauses(), 0, step).pauseMs) << step;
    m_logged = m_trace.spans;
    m_trace.spans = { undated(1, 2 * Second) };
    EXPECT_EQ(stepOf(pauses(), 0, 1).pauseMs, 2000);
    EXPECT_FALSE(stepOf(pauses(), 0, 2).pauseMs);
}

TEST_F(Pausing, SpansOfAnActorWinOverItsLog)
{
    m_trace.spans = { pause("r0", 2, Begin, Second) };
    m_logged = { pause("r0", 2, Begin + 130 * Second, 2 * Second), pause("r0", 3, Begin + 190 * Second, 2 * Second) };
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 1000);
    EXPECT_FALSE(stepOf(pauses(), 0, 2).pauseIsLogged);
    EXPECT_EQ(stepOf(pauses(), 0, 3).pauseMs, 2000);
}

TEST_F(Pausing, OfSeveralEpochsTheOneNextInTimeCounts)
{
    publish(m_run, 1, Begin + Hour, { 2, 3 });
    m_logged = { pause("log", 2, Begin + 130 * Second, Second),
                 pause("log", 2, Begin + Hour + 130 * Second, 2 * Second), undated(3, 3 * Second) };
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 1000);
    EXPECT_EQ(stepOf(pauses(), 1, 2).pauseMs, 2000);
    EXPECT_FALSE(stepOf(pauses(), 0, 3).pauseMs);
    EXPECT_EQ(stepOf(pauses(), 1, 3).pauseMs, 3000);
}

TEST_F(Pausing, AStepThatWasOverwrittenTellsOfTheLaterOne)
{
    // The log holds both incarnations, the run only what the second one wrote.
    m_logged = { pause("log", 2, Begin - Hour, 9 * Second), pause("log", 2, Begin + 130 * Second, Second) };
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 1000);
    std::swap(m_logged[0], m_logged[1]);
    EXPECT_EQ(stepOf(pauses(), 0, 2).pauseMs, 1000);
}

TEST_F(Pausing, NotesOfLogsStandBesideTheOthersInOrderOfTime)
{
    m_trace.spans = { Span { "r0", "note", 2, 0, Begin + 5, Begin + 5, 0, "second" } };
    m_logged = { Span { "log", "note", 3, 0, Begin + 9, Begin + 9, 0, "third" },
                 Span { "log", "note", -1, 0, Begin + 1, Begin + 1, 0, "first" },
                 Span { "log", "note", -1, 0, 0, 0, 0, "undated" } };
    RunView view;
    addTrace(view, m_trace, m_logged, Begin);
    std::vector<std::string> texts;
    for (const NoteView& note : view.notes)
        texts.push_back(note.text);
    EXPECT_EQ(texts, (std::vector<std::string> { "undated", "first", "second", "third" }));
    EXPECT_FALSE(view.notes.front().tUs);
    EXPECT_FALSE(view.notes.front().step);
    EXPECT_EQ(view.notes.back().step, 3);
}

} // namespace
} // namespace deltascope::app
