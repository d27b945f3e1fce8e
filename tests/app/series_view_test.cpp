#include "deltascope/app/view/series_view.h"

#include "run_views.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

// The lines of charts: which values they have, and what is left of them where a pixel holds many.

namespace deltascope::app {
namespace {

using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

SeriesColumns lineOf(const RunView& run, const std::string& name, SeriesRange range = {},
                     const TimelineView& timeline = {})
{
    SeriesView view = makeSeries(run, timeline, { name }, range);
    EXPECT_EQ(view.series.size(), 1U);
    return view.series[name];
}

SeriesRange everything(std::uint32_t pixels = 0)
{
    SeriesRange range;
    range.pixels = pixels;
    return range;
}

/// An anchor at 1, deltas to 5 with the changed shares 0.2 … 0.5.
RunView fiveSteps()
{
    std::vector<StepView> steps { stepView(1, "anchor") };
    for (std::int64_t step = 2; step < 6; ++step) {
        steps.push_back(stepView(step));
        steps.back().changedFraction = static_cast<double>(step) / 10;
    }
    return runView({ steps });
}

TEST(Series, WithoutPixelsHaveEveryValue)
{
    const SeriesColumns line = lineOf(fiveSteps(), "changed_frac", everything());
    EXPECT_EQ(line.x, (Steps { 2, 3, 4, 5 }));
    EXPECT_EQ(line.first, (Values { 0.2, 0.3, 0.4, 0.5 }));
    EXPECT_EQ(line.min, line.first);
    EXPECT_EQ(line.max, line.first);
    EXPECT_EQ(line.last, line.first);
}

TEST(Series, WhatIsMissingStaysMissing)
{
    RunView run = fiveSteps();
    run.epochs[0].steps[2].changedFraction.reset();
    run.epochs[0].steps[3].changedFraction = 0;
    const SeriesColumns line = lineOf(run, "changed_frac", everything());
    EXPECT_EQ(line.x, (Steps { 2, 4, 5 }));
    EXPECT_EQ(line.last, (Values { 0.2, 0, 0.5 })) << "nothing changed is a value";
    EXPECT_TRUE(lineOf(run, "pause_ms", everything()).x.empty());
}

TEST(Series, ANameThatNobodyKnowsIsLeftOut)
{
    const SeriesView view = makeSeries(fiveSteps(), {}, { "wire_bytes", "no_such", "" }, everything());
    ASSERT_EQ(view.series.size(), 1U);
    EXPECT_TRUE(view.series.contains("wire_bytes"));
}

TEST(Series, EveryNameHasItsValue)
{
    RunView run = fiveSteps();
    StepView& step = run.epochs[0].steps[2];
    step.changedVsPrevious = 77;
    step.pauseMs = 1250;
    run.drift = { { 0, 3, 900, 20, 31 }, { 0, 4, 90, 0, {} }, { 1, 3, 5, 5, 5 } };
    TimelineView timeline;
    timeline.bars.resize(3);
    timeline.bars[0] = { 3, "r0", 1'000'000, 3'500'000, {}, {}, {}, false };
    timeline.bars[1] = { 3, "r1", 1'000'000, 2'000'000, {}, {}, {}, false };
    timeline.bars[2] = { 4, "r0", 5'000'000, 5'001'500, {}, {}, {}, false };
    EXPECT_EQ(lineOf(run, "changed_elems", everything()).last, Values { 77 });
    EXPECT_EQ(lineOf(run, "wire_bytes", everything()).last, Values(4, 5000)) << "of deltas alone";
    EXPECT_EQ(lineOf(run, "pause_ms", everything()).last, Values { 1250 });
    EXPECT_EQ(lineOf(run, "interval_s", everything()).last, Values(4, 10)) << "the first step has none";
    EXPECT_EQ(lineOf(run, "drift_elems", everything()).last, (Values { 31, 90 })) << "without an estimate all of it";
    const SeriesColumns sync = lineOf(run, "sync_ms", everything(), timeline);
    EXPECT_EQ(sync.x, (Steps { 3, 4 }));
    EXPECT_EQ(sync.last, (Values { 2500, 1.5 })) << "the slowest replica";
}

TEST(Series, AllNamesAreMade)
{
    std::vector<std::string> names;
    for (const std::string_view name : seriesNames())
        names.emplace_back(name);
    EXPECT_EQ(names.size(), 7U);
    EXPECT_EQ(makeSeries(fiveSteps(), {}, names, everything()).series.size(), names.size());
}

TEST(Series, AnIntervalReachesOverAGapAndBeyondTheRange)
{
    const RunView run = runView({ { stepView(1, "anchor"), stepView(2), gapStep(3, 4), stepView(5) } });
    EXPECT_EQ(lineOf(run, "interval_s", everything()).last, (Values { 10, 30 }));
    SeriesRange range = everything();
    range.from = 5;
    EXPECT_EQ(lineOf(run, "interval_s", range).last, Values { 30 });
}

TEST(Series, AnIntervalAgainstTheClockIsMissing)
{
    RunView run = runView({ { stepView(1, "anchor"), stepView(2), stepView(3) } });
    run.epochs[0].steps[1].publishedUs = test::Begin;
    EXPECT_EQ(lineOf(run, "interval_s", everything()).x, Steps { 3 });
}

TEST(Series, ListTheAnchorsAndTheStepsOfTheRange)
{
    const RunView run = runView({ { stepView(1, "anchor"), stepView(2), gapStep(3, 3), stepView(4, "anchor"),
                                    stepView(5), stepView(6, "anchor") } });
    SeriesRange range = everything();
    range.from = 2;
    range.to = 5;
    const SeriesView view = makeSeries(run, {}, { "wire_bytes" }, range);
    EXPECT_EQ(view.anchors, Steps { 4 });
    EXPECT_EQ(view.points, 3U) << "a gap is no step";
    EXPECT_EQ(view.from, 2);
    EXPECT_EQ(view.to, 5);
    EXPECT_EQ(view.series.at("wire_bytes").x, (Steps { 2, 5 }));
}

TEST(Series, WithoutBoundsTheRangeIsTheRunsOwn)
{
    const SeriesView view = makeSeries(fiveSteps(), {}, {}, everything());
    EXPECT_EQ(view.from, 1);
    EXPECT_EQ(view.to, 5);
    EXPECT_EQ(view.points, 5U);
}

TEST(Series, ARangeBesideTheRunOrBackwardsIsEmpty)
{
    for (const auto& [from, to] : std::vector<std::pair<std::int64_t, std::int64_t>> {
             { 6, 9 }, { -4, 0 }, { 4, 2 }, { INT64_MAX, 0 }, { INT64_MAX, INT64_MAX } }) {
        SeriesRange range = everything(10);
        range.from = from;
        range.to = to;
        const SeriesView view = makeSeries(fiveSteps(), {}, { "wire_bytes" }, range);
        EXPECT_EQ(view.points, 0U) << from << " " << to;
        EXPECT_TRUE(view.series.at("wire_bytes").x.empty());
        EXPECT_TRUE(view.anchors.empty());
    }
}

TEST(Series, OfOneStepAreOnePoint)
{
    const SeriesColumns line = lineOf(runView({ { stepView(7) } }), "wire_bytes", everything(1200));
    EXPECT_EQ(line.x, Steps { 7 });
    EXPECT_EQ(line.last, Values { 5000 });
}

TEST(Series, OfAnEmptyOrUnknownEpochAreEmpty)
{
    RunView run = runView({ {} });
    EXPECT_EQ(makeSeries(run, {}, { "wire_bytes" }, everything()).points, 0U);
    SeriesRange range = everything();
    range.epoch = 4;
    const SeriesView view = makeSeries(fiveSteps(), {}, { "wire_bytes" }, range);
    EXPECT_EQ(view.epoch, 4);
    EXPECT_EQ(view.points, 0U);
    EXPECT_TRUE(view.series.empty());
}

TEST(Series, AreOfOneEpoch)
{
    RunView run = runView({ { stepView(1, "anchor"), stepView(2) }, { stepView(2, "anchor"), stepView(3) } });
    SeriesRange range = everything();
    range.epoch = 1;
    EXPECT_EQ(lineOf(run, "wire_bytes", range).x, Steps { 3 });
    EXPECT_EQ(lineOf(run, "interval_s", range).x, Steps { 3 }) << "no interval from one epoch to the next";
}

/// Buckets by walking over all steps for each of them.
SeriesColumns slowly(const RunView& run, std::int64_t from, std::int64_t to, std::uint32_t pixels)
{
    SeriesColumns columns;
    for (std::uint32_t pixel = 0; pixel < pixels; ++pixel) {
        Steps steps;
        Values values;
        for (const StepView& step : run.epochs[0].steps) {
            const double at = static_cast<double>(step.step - from) / (static_cast<double>(to - from + 1) / pixels);
            if (!step.pauseMs || static_cast<std::uint32_t>(at) != pixel)
                continue;
            steps.push_back(step.step);
            values.push_back(*step.pauseMs);
        }
        if (values.empty())
            continue;
        columns.x.push_back(steps.back());
        columns.first.push_back(values.front());
        columns.min.push_back(*std::min_element(values.begin(), values.end()));
        columns.max.push_back(*std::max_element(values.begin(), values.end()));
        columns.last.push_back(values.back());
    }
    return columns;
}

TEST(Series, APixelKeepsFirstLowestHighestAndLast)
{
    std::mt19937 random(6); // NOLINT: the same every time
    for (int round = 0; round < 60; ++round) {
        std::vector<StepView> steps;
        std::int64_t step = random() % 50;
        for (unsigned i = 2 + random() % 400; i > 0; --i, step += 1 + (random() % 10 == 0 ? random() % 30 : 0)) {
            steps.push_back(stepView(step));
            if (random() % 5 != 0)
                steps.back().pauseMs = static_cast<double>(random() % 100'000) / 16;
        }
        const RunView run = runView({ steps });
        const auto pixels = static_cast<std::uint32_t>(1 + random() % 90);
        const SeriesColumns line = lineOf(run, "pause_ms", everything(pixels));
        const SeriesColumns slow = slowly(run, steps.front().step, steps.back().step, pixels);
        EXPECT_EQ(line.x, slow.x) << "round " << round;
        EXPECT_EQ(line.first, slow.first) << "round " << round;
        EXPECT_EQ(line.min, slow.min) << "round " << round;
        EXPECT_EQ(line.max, slow.max) << "round " << round;
        EXPECT_EQ(line.last, slow.last) << "round " << round;
        EXPECT_LE(line.x.size(), pixels);
    }
}

} // namespace
} // namespace deltascope::app
