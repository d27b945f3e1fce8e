// What the page Lineage does on the GUI thread with a run of 10,000 steps, all chains open, which is the worst case.
// Budget: 5 ms for each.

#include "desktop/made_run.h"

#include "look/look.h"
#include "pages/lineage/lineage_strip.h"
#include "pages/lineage/lineage_tree.h"

#include <QApplication>
#include <QPixmap>
#include <QScrollBar>

#include <benchmark/benchmark.h>

namespace {

using namespace deltascope;
using namespace deltascope::desktop;

constexpr std::int64_t Steps = 10'000;

LineagePointer pictureOf(std::int64_t last)
{
    MadeRun made { 0, last, 10 };
    return std::make_shared<const LineagePicture>(made.snapshot(), std::vector<app::AlertView>(), Query());
}

struct Shown {
    explicit Shown(bool open)
    {
        tree.resize(1240, 640);
        tree.show();
        tree.showPicture(pictureOf(Steps - 1), {}, StepId { 0, Steps - 1 });
        if (open)
            tree.setAllOpen(true);
        QApplication::processEvents();
    }
    LineageTree tree;
};

/// Off the GUI thread in the app: makes the picture.
void picture(benchmark::State& state)
{
    MadeRun made { 0, Steps - 1, 10 };
    const RunPointer run = made.snapshot();
    for (auto _ : state)
        benchmark::DoNotOptimize(LineagePicture(run, {}, Query()));
}

/// Takes over a picture with one more step, then one with one less.
void newStep(benchmark::State& state)
{
    Shown shown(state.range(0) != 0);
    const LineagePointer longer = pictureOf(Steps);
    const LineagePointer shorter = pictureOf(Steps - 1);
    bool more = true;
    for (auto _ : state) {
        shown.tree.showPicture(more ? longer : shorter, {}, StepId { 0, Steps - 1 });
        more = !more;
    }
}

void moveB(benchmark::State& state)
{
    Shown shown(state.range(0) != 0);
    std::int64_t step = Steps / 2;
    for (auto _ : state) {
        shown.tree.setMarks({}, StepId { 0, step }, true);
        step = step == Steps / 2 ? Steps / 4 : Steps / 2;
    }
}

void paintList(benchmark::State& state)
{
    Shown shown(state.range(0) != 0);
    shown.tree.verticalScrollBar()->setValue(shown.tree.verticalScrollBar()->maximum() / 2);
    QPixmap target(shown.tree.viewport()->size());
    for (auto _ : state)
        shown.tree.viewport()->render(&target);
}

/// `anew`: as after a new step, when nothing that was drawn can be kept.
void paintStrip(benchmark::State& state)
{
    LineageStrip strip;
    strip.resize(1240, strip.height());
    const LineagePointer pictures[] = { pictureOf(Steps - 1), pictureOf(Steps) };
    strip.showPicture(pictures[0]);
    QPixmap target(strip.size());
    int at = 0;
    for (auto _ : state) {
        if (state.range(0) != 0)
            strip.showPicture(pictures[++at % 2]);
        strip.render(&target);
    }
}

BENCHMARK(picture)->Unit(benchmark::kMillisecond);
BENCHMARK(newStep)->ArgName("open")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(moveB)->ArgName("open")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(paintList)->ArgName("open")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(paintStrip)->ArgName("anew")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

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
