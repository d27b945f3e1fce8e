// What the heatmap of the desktop app costs on the GUI thread, painted on Qt's offscreen platform at 1240 x 784.
//
//   deltascope-bench-heatmap [--benchmark_filter=REGEX]
//
// "paint_ms" is what QWidget::paintEvent took, the median over all frames, "paint_p95_ms" the 95th percentile. Tiles
// are made before a pan is timed; "first paint" includes making them.
#include "desktop/made_heat.h"
#include "heat/heat_canvas.h"
#include "look/look.h"

#include <QApplication>
#include <QTest>

#include <algorithm>
#include <benchmark/benchmark.h>

namespace deltascope::desktop {
namespace {

constexpr QSize Page(1240, 784);

HeatPlanPointer planOf(const std::shared_ptr<const app::HeatView>& heat, const HeatPlanPointer& before = nullptr)
{
    return makeHeatPlan(MadeHeat::snapshot(heat), 0, {}, {}, before);
}

/// Times of paints, in milliseconds.
class Paints {
public:
    void add(double ms) { m_ms.push_back(ms); }
    void report(benchmark::State& state)
    {
        std::sort(m_ms.begin(), m_ms.end());
        state.counters["paint_ms"] = m_ms[m_ms.size() / 2];
        state.counters["paint_p95_ms"] = m_ms[m_ms.size() * 95 / 100];
    }

private:
    std::vector<double> m_ms;
};

void settle(const HeatCanvas& canvas)
{
    (void)QTest::qWaitFor([&] { return !canvas.isLoading(); }, 60'000);
    QTest::qWait(20);
}

std::unique_ptr<HeatCanvas> shownCanvas(const HeatPlanPointer& plan)
{
    auto canvas = std::make_unique<HeatCanvas>();
    canvas->resize(Page);
    canvas->setPlan(plan, false);
    canvas->show();
    QTest::qWait(20);
    settle(*canvas);
    return canvas;
}

/// range(0) rows, range(1) steps, range(2) columns that are seen.
void pan(benchmark::State& state)
{
    const MadeHeat made { .layers = static_cast<int>(state.range(0)) / 12,
                          .perLayer = 12,
                          .steps = static_cast<int>(state.range(1)) };
    const auto canvas = shownCanvas(planOf(made.view()));
    const auto seen = state.range(2);
    const auto last = state.range(1) - seen;
    Paints paints;
    const auto frame = [&](std::int64_t first) {
        canvas->showSteps({ first, first + seen - 1 });
        canvas->repaint();
    };
    for (std::int64_t first = 0; first < last; first += 50) { // tiles of the way
        frame(first);
        settle(*canvas);
    }
    std::int64_t first = 0;
    for (auto _ : state) {
        frame(first);
        paints.add(canvas->lastPaintMs());
        first = last > 0 ? (first + 3) % last : 0;
    }
    paints.report(state);
}
BENCHMARK(pan)
    ->Args({ 400, 2000, 400 })
    ->Args({ 400, 2000, 1900 })
    ->Args({ 1137, 10'000, 1000 })
    ->Unit(benchmark::kMillisecond);

void append(benchmark::State& state)
{
    const MadeHeat made { .layers = 33, .perLayer = 12, .steps = 2000 };
    std::shared_ptr<const app::HeatView> heat = made.view();
    HeatPlanPointer plan = planOf(heat);
    const auto canvas = shownCanvas(plan);
    canvas->showSteps({ 1500, 1800 });
    settle(*canvas);
    Paints paints;
    unsigned seed = 1;
    for (auto _ : state) {
        state.PauseTiming();
        heat = MadeHeat::grown(*heat, seed++);
        plan = planOf(heat, plan);
        state.ResumeTiming();
        canvas->setPlan(plan, false);
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        paints.add(canvas->lastPaintMs());
    }
    paints.report(state);
}
BENCHMARK(append)->Unit(benchmark::kMillisecond)->Iterations(300);

/// From a plan to the last tile on screen.
void firstPaint(benchmark::State& state)
{
    const MadeHeat made { .layers = static_cast<int>(state.range(0)) / 12,
                          .perLayer = 12,
                          .steps = static_cast<int>(state.range(1)) };
    const HeatPlanPointer plan = planOf(made.view());
    for (auto _ : state) {
        state.PauseTiming();
        HeatCanvas canvas;
        canvas.resize(Page);
        canvas.show();
        (void)QTest::qWaitForWindowExposed(&canvas);
        state.ResumeTiming();
        canvas.setPlan(plan, false);
        canvas.repaint();
        while (canvas.isLoading())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
        canvas.repaint();
    }
}
BENCHMARK(firstPaint)->Args({ 400, 2000 })->Args({ 1137, 10'000 })->Unit(benchmark::kMillisecond);

/// Rows, sums and lanes of a run, off the GUI thread.
void makePlan(benchmark::State& state)
{
    const auto snapshot = MadeHeat::snapshot(MadeHeat { .layers = 95, .perLayer = 12, .steps = 10'000 }.view());
    for (auto _ : state)
        benchmark::DoNotOptimize(makeHeatPlan(snapshot, 0, {}, {}, nullptr));
}
BENCHMARK(makePlan)->Unit(benchmark::kMillisecond);

}
} // namespace deltascope::desktop

int main(int count, char** words)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(count, words);
    deltascope::desktop::applyLook(application, deltascope::desktop::Appearance::Dark,
                                   deltascope::desktop::Density::Comfortable);
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
}
