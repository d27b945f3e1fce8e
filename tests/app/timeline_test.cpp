#include "deltascope/app/view/timeline_view.h"

#include "deltascope/app/view/json.h"
#include "support/times.h"
#include "view/make_views.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

// Bars, summary and ghost of weight syncs; spans of traces and logs in a run view.

namespace deltascope::app {
namespace {

using Json = nlohmann::json;

using test::Begin;
using test::Hour;
using test::Second;

StepView published(std::int64_t step, std::int64_t atUs, std::string kind = "delta", int epoch = 0)
{
    StepView view;
    view.epoch = epoch;
    view.step = step;
    view.kind = std::move(kind);
    view.state = "complete";
    view.publishedUs = atUs;
    view.wireBytes = view.kind == "anchor" ? 1'000'000'000 : 5'000'000;
    return view;
}

/// Times in milliseconds since Begin.
SpanView span(std::string actor, std::string phase, std::int64_t step, std::int64_t t0, std::int64_t t1,
              std::uint64_t bytes = 0)
{
    return { std::move(actor), std::move(phase), 0, step, Begin + t0 * 1000, Begin + t1 * 1000, bytes };
}

RunView runOf(std::vector<SpanView> spans)
{
    RunView run;
    run.revision = 4;
    run.epochs = {
        { 0, { published(10, Begin, "anchor"), published(11, Begin + 9 * Second), published(12, Begin + 19 * Second) } }
    };
    run.spans = std::move(spans);
    return run;
}

/// Step 11 with two replicas; r1 pauses longer. Step 12 was only published yet.
std::vector<SpanView> usualSpans()
{
    return {
        span("trainer", "diff", 11, 0, 3000, 2'000'000'000),
        span("trainer", "upload", 11, 3000, 8000, 5'000'000),
        span("r0", "fetch", 11, 8500, 9500, 5'000'000),
        span("r0", "verify", 11, 9400, 9900),
        span("r0", "pause", 11, 10'000, 11'100),
        span("r0", "apply", 11, 10'200, 11'000),
        span("r1", "fetch", 11, 8500, 12'000, 5'000'000),
        span("r1", "pause", 11, 12'000, 16'000),
        span("trainer", "diff", 12, 10'000, 13'000),
        span("trainer", "upload", 12, 13'000, 18'000, 5'000'000),
    };
}

std::vector<std::pair<std::string, std::int64_t>> phasesOf(const BarView& bar)
{
    std::vector<std::pair<std::string, std::int64_t>> phases;
    for (const PhaseTimeView& time : bar.phases)
        phases.emplace_back(time.phase, time.us / 1000);
    return phases;
}
using Phases = std::vector<std::pair<std::string, std::int64_t>>;

TEST(Timeline, ABarGoesFromThePublisherToTheReplicaAndNamesEveryMoment)
{
    const TimelineView view = makeTimelineView(runOf(usualSpans()), 0, 11, 11);
    ASSERT_EQ(view.bars.size(), 2U);
    const BarView& bar = view.bars[0];
    EXPECT_EQ(bar.actor, "r0");
    EXPECT_EQ(bar.t0Us, Begin);
    EXPECT_EQ(bar.t1Us, Begin + 11'100'000);
    EXPECT_EQ(phasesOf(bar),
              (Phases { { "pause.apply", 800 },
                        { "pause", 300 },
                        { "verify", 500 },
                        { "fetch", 900 },
                        { "upload", 5000 },
                        { "diff", 3000 },
                        { "waiting", 600 } }));
    EXPECT_EQ(bar.pauseUs, 1'100'000);
    EXPECT_FALSE(bar.slowest);
    EXPECT_TRUE(view.bars[1].slowest);
    EXPECT_EQ(
        phasesOf(view.bars[1]),
        (Phases { { "pause", 4000 }, { "fetch", 3500 }, { "upload", 5000 }, { "diff", 3000 }, { "waiting", 500 } }));
}

TEST(Timeline, WorkCountsParallelSpansTwice)
{
    const TimelineView view =
        makeTimelineView(runOf({ span("r0", "fetch", 11, 0, 1000, 7), span("r0", "fetch", 11, 500, 2000, 5),
                                 span("r0", "pause", 11, 2000, 2500) }),
                         0, 11, 11);
    ASSERT_EQ(view.bars.size(), 1U);
    ASSERT_EQ(view.bars[0].work.size(), 2U);
    EXPECT_EQ(view.bars[0].work[1].phase, "fetch");
    EXPECT_EQ(view.bars[0].work[1].us, 2'500'000);
    EXPECT_EQ(view.bars[0].work[1].bytes, 12U);
    EXPECT_EQ(phasesOf(view.bars[0]), (Phases { { "pause", 500 }, { "fetch", 2000 } }));
}

TEST(Timeline, APublisherAloneHasOneBarWithoutANameAndWithoutAPause)
{
    const TimelineView view = makeTimelineView(runOf(usualSpans()), 0, 12, 12);
    ASSERT_EQ(view.bars.size(), 1U);
    EXPECT_EQ(view.bars[0].actor, "");
    EXPECT_EQ(view.bars[0].pauseUs, std::nullopt);
    EXPECT_EQ(view.summary.pauses, 0U);
    EXPECT_EQ(view.summary.p50Us, std::nullopt);
    EXPECT_FALSE(view.summary.worst);
    EXPECT_EQ(view.actors, std::vector<std::string> { "trainer" });
}

TEST(Timeline, AnActorThatPausesByItselfIsAReplicaAndSharesNothing)
{
    const TimelineView view =
        makeTimelineView(runOf({ span("trainer", "upload", 11, 0, 1000), span("trainer", "pause", 11, 1000, 2000),
                                 span("vllm", "apply", 11, 1200, 1900) }),
                         0, 11, 11);
    ASSERT_EQ(view.bars.size(), 2U);
    EXPECT_EQ(phasesOf(view.bars[0]), (Phases { { "pause", 1000 }, { "upload", 1000 } }));
    EXPECT_EQ(phasesOf(view.bars[1]), (Phases { { "apply", 700 } })) << "nobody said that tokens stopped";
    EXPECT_EQ(view.bars[1].pauseUs, std::nullopt);
}

TEST(Timeline, TheWholeOfASyncIsNoPhaseOfIt)
{
    TimelineView view =
        makeTimelineView(runOf({ span("t", "sync", 11, 0, 5000), span("t", "upload", 11, 1000, 2000) }), 0, 11, 11);
    ASSERT_EQ(view.bars.size(), 1U);
    EXPECT_EQ(phasesOf(view.bars[0]), (Phases { { "upload", 1000 } }));
    EXPECT_EQ(view.spans.size(), 1U);

    view = makeTimelineView(runOf({ span("t", "sync", 11, 0, 5000) }), 0, 11, 11);
    ASSERT_EQ(view.bars.size(), 1U);
    EXPECT_EQ(phasesOf(view.bars[0]), (Phases { { "sync", 5000 } })) << "no breakdown is known";
}

TEST(Timeline, UnknownPhasesComeAfterTheKnownOnes)
{
    const TimelineView view =
        makeTimelineView(runOf({ span("t", "commit", 11, 0, 3000), span("t", "diff", 11, 1000, 2000),
                                 span("t", "compute", 11, 2500, 4000) }),
                         0, 11, 11);
    EXPECT_EQ(phasesOf(view.bars.at(0)), (Phases { { "diff", 1000 }, { "commit", 2000 }, { "compute", 1000 } }));
}

/// What each millisecond belongs to, found by looking at it.
std::map<std::string, std::int64_t> slowly(const std::vector<SpanView>& spans, std::int64_t t0Us, std::int64_t t1Us)
{
    const std::vector<std::string> ranks { "pause", "apply", "verify", "stage", "fetch", "upload", "encode", "diff" };
    std::map<std::string, std::int64_t> sums;
    for (std::int64_t at = t0Us; at < t1Us; at += 1000) {
        std::set<std::string> active;
        for (const SpanView& span : spans) {
            if (span.t0Us <= at && at < span.t1Us)
                active.insert(span.phase);
        }
        std::string phase = "waiting";
        for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
            if (active.contains(*rank))
                phase = *rank;
        }
        if (phase == "pause" && active.contains("apply"))
            phase = "pause.apply";
        sums[phase] += 1000;
    }
    return sums;
}

TEST(Timeline, HeightsAreWallTimeWhateverOverlaps)
{
    std::mt19937 random(7); // NOLINT: the same every time
    const std::vector<std::string> phases { "pause", "apply", "verify", "stage", "fetch", "upload", "encode", "diff" };
    for (int round = 0; round < 200; ++round) {
        std::vector<SpanView> spans { span("r", "fetch", 11, 30, 31) };
        for (unsigned i = random() % 12; i > 0; --i) {
            const std::int64_t t0 = random() % 60;
            spans.push_back(span("r", phases[random() % phases.size()], 11, t0, t0 + random() % 20));
        }
        const TimelineView view = makeTimelineView(runOf(spans), 0, 11, 11);
        ASSERT_EQ(view.bars.size(), 1U);
        const BarView& bar = view.bars[0];
        std::map<std::string, std::int64_t> sums;
        std::int64_t height = 0;
        for (const PhaseTimeView& time : bar.phases) {
            sums[time.phase] += time.us;
            height += time.us;
        }
        EXPECT_EQ(height, bar.t1Us - bar.t0Us);
        EXPECT_EQ(sums, slowly(spans, bar.t0Us, bar.t1Us)) << "round " << round;
        EXPECT_EQ(bar.phases.size(), sums.size()) << "each phase once";
    }
}

TEST(Timeline, TheSummaryIsAboutEachPause)
{
    std::vector<SpanView> spans;
    for (std::int64_t step = 10; step < 12; ++step) {
        for (std::int64_t r = 0; r < 10; ++r) // pauses of 100, 200 … 2000 ms
            spans.push_back(span("r" + std::to_string(r), "pause", step, step * 10'000,
                                 step * 10'000 + 100 * (1 + r + 10 * (step - 10))));
    }
    const PauseSummaryView summary = makeTimelineView(runOf(spans), 0, 0, 100).summary;
    EXPECT_EQ(summary.pauses, 20U);
    EXPECT_EQ(summary.pausedUs, 21'000'000);
    EXPECT_EQ(summary.p50Us, 1'000'000);
    EXPECT_EQ(summary.p95Us, 1'900'000);
    ASSERT_TRUE(summary.worst);
    EXPECT_EQ(summary.worst->step, 11);
    EXPECT_EQ(summary.worst->actor, "r9");
    EXPECT_EQ(summary.wallUs, 10 * 12e6) << "of ten replicas";
}

TEST(Timeline, TheGhostIsAFullCheckpointAtTheRateOfTheUploads)
{
    const TimelineView view = makeTimelineView(runOf(usualSpans()), 0, 11, 12);
    ASSERT_TRUE(view.ghost);
    EXPECT_EQ(view.ghost->fullBytes, 1'000'000'000U);
    EXPECT_DOUBLE_EQ(view.ghost->bytesPerSecond, 1e6);
    EXPECT_DOUBLE_EQ(view.ghost->ms(), 1e6);
    EXPECT_FALSE(makeTimelineView(runOf({ span("r0", "fetch", 11, 0, 9) }), 0, 11, 12).ghost) << "nothing was uploaded";
    RunView run = runOf(usualSpans());
    run.epochs[0].steps.erase(run.epochs[0].steps.begin());
    EXPECT_FALSE(makeTimelineView(run, 0, 11, 12).ghost) << "there is no full checkpoint";
}

TEST(Timeline, OnlyTheStepsAndTheEpochThatWereAskedFor)
{
    RunView run = runOf(usualSpans());
    StepView gap = published(13, 0);
    gap.state = "gap";
    StepView coming = published(14, Begin + 30 * Second);
    coming.state = "publishing";
    run.epochs[0].steps.insert(run.epochs[0].steps.end(), { gap, coming });
    run.epochs.push_back({ 1, { published(11, Begin + 90 * Second, "anchor", 1) } });
    run.spans.push_back(span("trainer", "upload", 11, 80'000, 89'000));
    run.spans.back().epoch = 1;
    EXPECT_EQ(makeTimelineView(run, 0, 11, 11).spans.size(), 8U);
    EXPECT_EQ(makeTimelineView(run, 0, 11, 20).visible.size(), 2U);
    const TimelineView later = makeTimelineView(run, 1, 0, 100);
    EXPECT_EQ(later.bars.size(), 1U);
    ASSERT_EQ(later.visible.size(), 1U);
    EXPECT_EQ(later.visible[0].tUs, Begin + 90 * Second);
    EXPECT_TRUE(makeTimelineView(run, 7, 0, 100).bars.empty());
    EXPECT_TRUE(makeTimelineView({}, 0, 0, 100).bars.empty());
}

TEST(Timeline, ManySpansAreCutToTheNewest)
{
    std::vector<SpanView> spans;
    for (std::int64_t i = 0; i < 6000; ++i)
        spans.push_back(span("r0", "fetch", 11, i, i + 1));
    const TimelineView view = makeTimelineView(runOf(spans), 0, 11, 11);
    ASSERT_EQ(view.spans.size(), 5000U);
    EXPECT_EQ(view.spans.front().t0Us, Begin + 1000 * 1000);
}

TEST(Timeline, WritesTheContract)
{
    std::ifstream file(DELTASCOPE_GOLDEN_DIR "/view/timeline.json");
    EXPECT_EQ(Json::parse(toJson(makeTimelineView(runOf(usualSpans()), 0, 10, 12))), Json::parse(file));
}

TEST(ChromeTrace, HasAProcessPerActorAndMarksPublications)
{
    RunView run = runOf(usualSpans());
    for (SpanView& span : run.spans) {
        if (span.actor == "r1")
            span.actor = "<b>\u202e\"r1\xff";
    }
    const Json trace = Json::parse(chromeTrace(makeTimelineView(run, 0, 10, 12)));
    std::map<int, std::string> names;
    int slices = 0;
    int marks = 0;
    for (const Json& event : trace.at("traceEvents")) {
        if (event.at("ph") == "M")
            names[event.at("pid")] = event.at("args").at("name");
        if (event.at("ph") == "X") {
            ++slices;
            EXPECT_TRUE(names.contains(event.at("pid")));
            EXPECT_TRUE(event.at("ts").is_number_integer());
            EXPECT_TRUE(event.at("dur").is_number_integer());
            EXPECT_TRUE(event.at("tid").is_number_integer());
        }
        marks += event.at("ph") == "i" ? 1 : 0;
    }
    EXPECT_EQ(slices, 10);
    EXPECT_EQ(marks, 3);
    EXPECT_EQ(names.size(), 4U);
    EXPECT_EQ(names.begin()->second, "bucket");
}

TEST(ChromeTrace, SlicesOfOneRowAreApartOrInsideEachOther)
{
    std::mt19937 random(3); // NOLINT: the same every time
    std::vector<SpanView> spans;
    for (int i = 0; i < 300; ++i) {
        const std::int64_t t0 = random() % 1000;
        spans.push_back(span("r" + std::to_string(random() % 3), "fetch", 11, t0, t0 + 1 + random() % 100));
    }
    const Json trace = Json::parse(chromeTrace(makeTimelineView(runOf(spans), 0, 11, 11)));
    std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> rows;
    for (const Json& event : trace.at("traceEvents")) {
        if (event.at("ph") == "X")
            rows[{ event.at("pid"), event.at("tid") }].emplace_back(
                event.at("ts"), event.at("ts").get<std::int64_t>() + event.at("dur").get<std::int64_t>());
    }
    std::size_t slices = 0;
    for (const auto& [row, all] : rows) {
        slices += all.size();
        for (const auto& a : all) {
            for (const auto& b : all) {
                const bool crosses = a.first < b.first && b.first < a.second && a.second < b.second;
                EXPECT_FALSE(crosses);
            }
        }
    }
    EXPECT_EQ(slices, spans.size());
}

/// Spans as the engine has them.
Span raw(std::string actor, std::string phase, std::int64_t step, std::int64_t t0Us, std::int64_t t1Us, int epoch = 0)
{
    return { std::move(actor), std::move(phase), step, epoch, t0Us, t1Us, 0, {} };
}

TEST(SpansOfARun, AreThoseWithAPlaceInTime)
{
    Trace trace;
    trace.spans = { raw("r0", "fetch", 11, Begin + 20, Begin + 30),
                    raw("r0", "note", 11, Begin, Begin),
                    raw("r0", "pause", -1, Begin, Begin + 5),
                    raw("r0", "pause", 11, 0, 500),
                    raw("r0", "diff", 11, Begin + 10, Begin + 15),
                    raw("r0", "diff", 11, 1, Begin * 1000),
                    raw("r0", "diff", 11, Begin, Begin + 31 * 86'400 * Second) };
    RunView view = runOf({});
    addTrace(view, trace, {}, Begin);
    ASSERT_EQ(view.spans.size(), 2U);
    EXPECT_EQ(view.spans[0].phase, "diff") << "by begin";
    EXPECT_EQ(view.spans[1].t1Us, Begin + 30);
}

TEST(SpansOfARun, OfLogsBelongToTheVersionNextInTimeAndGiveWayToTheTrace)
{
    RunView view = runOf({});
    view.epochs.push_back({ 1, { published(11, Begin + Hour, "anchor", 1) } });
    Trace trace;
    trace.spans = { raw("r0", "pause", 11, Begin + 10 * Second, Begin + 11 * Second) };
    addTrace(view, trace,
             { raw("r0", "pause", 11, Begin + 10 * Second, Begin + 12 * Second),
               raw("r0", "fetch", 11, Begin + 8 * Second, Begin + 9 * Second),
               raw("r0", "fetch", 11, Begin + 3601 * Second, Begin + 3602 * Second),
               raw("r0", "fetch", 99, Begin + 8 * Second, Begin + 9 * Second) },
             Begin);
    ASSERT_EQ(view.spans.size(), 3U);
    EXPECT_EQ(view.spans[0].phase, "fetch");
    EXPECT_EQ(view.spans[0].epoch, 0);
    EXPECT_EQ(view.spans[1].phase, "pause");
    EXPECT_EQ(view.spans[1].t1Us, Begin + 11 * Second);
    EXPECT_EQ(view.spans[2].epoch, 1);
}

} // namespace
} // namespace deltascope::app
