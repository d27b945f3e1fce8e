// What a chart does on the GUI thread with a line of 1,000,000 points. Budget: 8 ms to paint.

#include "look/look.h"
#include "plot/plot_view.h"

#include <QApplication>
#include <QPixmap>

#include <benchmark/benchmark.h>

#include <cmath>

namespace {

using namespace deltascope;
using namespace deltascope::desktop;

constexpr std::int64_t Points = 1'000'000;

using Values = std::vector<std::pair<std::int64_t, double>>;

/// A slow wave with noise on it, the same each time.
const Values& values()
{
    static const Values made = [] {
        Values all;
        all.reserve(Points);
        std::uint64_t state = 1;
        for (std::int64_t at = 0; at < Points; ++at) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            all.emplace_back(at, std::sin(static_cast<double>(at) / 2e5) + static_cast<double>(state >> 40) / 0x1p25);
        }
        return all;
    }();
    return made;
}

PlotData dataOf(StepRange range, int pixels)
{
    PlotData data;
    data.range = range;
    data.limit = { 0, Points - 1 };
    data.points = static_cast<std::uint64_t>(range.second - range.first);
    data.format = [](double value) { return QString::number(value); };
    PlotSeries series;
    series.label = QStringLiteral("made");
    series.columns = app::makeColumns(values(), range.first, range.second, static_cast<std::uint32_t>(pixels));
    data.series.push_back(std::move(series));
    return data;
}

struct Shown {
    Shown()
    {
        view.resize(1600, 400);
        view.show();
        QApplication::processEvents();
    }
    PlotView view;
};

/// Off the GUI thread in the app: from a million values to two points per pixel.
void decimate(benchmark::State& state)
{
    (void)values();
    for (auto _ : state)
        benchmark::DoNotOptimize(app::makeColumns(values(), 0, Points - 1, 1600));
}

/// Takes over another part of the line and paints it, as while panning.
void pan(benchmark::State& state)
{
    Shown shown;
    const std::int64_t width = Points / 2;
    std::vector<PlotData> parts;
    for (std::int64_t begin = 0; begin + width < Points; begin += width / 8)
        parts.push_back(dataOf({ begin, begin + width }, shown.view.plotWidth()));
    QPixmap target(shown.view.size());
    std::size_t at = 0;
    for (auto _ : state) {
        shown.view.setData(parts[at++ % parts.size()]);
        shown.view.render(&target);
    }
}

/// The same line again, as when only the crosshair moves.
void paint(benchmark::State& state)
{
    Shown shown;
    shown.view.setData(dataOf({ 0, Points - 1 }, shown.view.plotWidth()));
    QPixmap target(shown.view.size());
    for (auto _ : state)
        shown.view.render(&target);
}

BENCHMARK(decimate)->Unit(benchmark::kMillisecond);
BENCHMARK(pan)->Unit(benchmark::kMillisecond);
BENCHMARK(paint)->Unit(benchmark::kMillisecond);

}

int main(int count, char** words)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(count, words);
    applyLook(application, Appearance::Light, Density::Comfortable);
    benchmark::Initialize(&count, words);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
