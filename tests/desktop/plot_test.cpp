#include "look/format.h"
#include "look/tokens.h"
#include "plot/plot_axis.h"
#include "plot/plot_card.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace deltascope::desktop {
namespace {

app::SeriesColumns plain(std::vector<std::int64_t> steps, std::vector<double> values)
{
    return { std::move(steps), values, values, values, values };
}

PlotData dataOf(PlotSeries series, StepRange range)
{
    PlotData data;
    data.series.push_back(std::move(series));
    data.range = range;
    data.limit = range;
    data.format = [](double value) { return QString::number(value); };
    return data;
}

/// Pixels of a color in the rectangle.
int count(const QImage& picture, const QRect& where, const QColor& wanted)
{
    int found = 0;
    for (int y = where.top(); y <= where.bottom(); ++y) {
        for (int x = where.left(); x <= where.right(); ++x)
            found += picture.pixelColor(x, y) == wanted;
    }
    return found;
}

TEST(PlotData, SmoothingTakesOutTheBiasOfItsStart)
{
    const std::vector<double> values = smoothed({ 4, 4, 4, 4 }, 0.9);
    for (const double value : values)
        EXPECT_NEAR(value, 4, 1e-12);
    const std::vector<double> rising = smoothed({ 0, 10 }, 0.5);
    EXPECT_NEAR(rising[1], (0.5 * 0 + 0.5 * 10) / (1 - 0.25), 1e-12);
    EXPECT_TRUE(std::isnan(smoothed({ 1, NAN, 1 }, 0.5)[1]));
    EXPECT_NEAR(smoothed({ 1, NAN, 1 }, 0.5)[2], 1, 1e-12) << "what is not finite counts for nothing";
}

TEST(PlotData, AMissingAnchorIsNoHoleButAGapIs)
{
    using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;
    EXPECT_EQ(stretchesOf({ 1, 2, 3, 5, 6 }), (Stretches { { 0, 5 } })) << "4 is an anchor";
    EXPECT_EQ(stretchesOf({ 1, 2, 3, 9, 10 }), (Stretches { { 0, 3 }, { 3, 5 } }));
    EXPECT_EQ(stretchesOf({ 100, 200, 300, 400 }), (Stretches { { 0, 4 } })) << "every hundredth step is published";
    EXPECT_TRUE(stretchesOf(std::vector<std::int64_t>()).empty());
}

TEST(PlotData, ZoomingStaysWithinTheRun)
{
    const StepRange limit { 0, 100 };
    EXPECT_EQ(zoomedRange({ 0, 100 }, 50, 0.5, limit), (StepRange { 25, 75 }));
    EXPECT_EQ(zoomedRange({ 25, 75 }, 50, 10, limit), limit);
    EXPECT_EQ(zoomedRange({ 50, 52 }, 51, 0.1, limit), (StepRange { 50, 52 })) << "two steps are the least";
    EXPECT_EQ(pannedRange({ 80, 95 }, 40, limit), (StepRange { 85, 100 }));
    EXPECT_EQ(pannedRange({ 3, 10 }, -40, limit), (StepRange { 0, 7 }));
}

TEST(PlotData, MissingValuesAreMissingInTheExport)
{
    PlotData data =
        dataOf({ QStringLiteral("a"), PlotDraw::Line, Token::Accent, plain({ 1, 3 }, { 0.5, 0.25 }), 1 }, { 1, 3 });
    data.series.push_back({ QStringLiteral("b,\"x\""), PlotDraw::Line, Token::Text, plain({ 2, 3 }, { 7, 8 }), 1 });
    EXPECT_EQ(linesOf(data, QStringLiteral("s"), u','), "step,\"a (s)\",\"b,\"\"x\"\" (s)\"\n1,0.5,\n2,,7\n3,0.25,8\n");
}

TEST(PlotAxis, TicksAreRoundAndHoldTheValues)
{
    const ValueAxis axis = makeValueAxis(0.70, 0.85, false, 4);
    EXPECT_LE(axis.low, 0.70);
    EXPECT_GE(axis.high, 0.85);
    EXPECT_GE(axis.ticks.size(), 3U);
    EXPECT_EQ(axis.text(axis.ticks[1]).toDouble(), QString::number(axis.ticks[1], 'g', 6).toDouble())
        << "as exact as shown";
    const ValueAxis bars = makeValueAxis(0.2, 4.0, true, 4);
    EXPECT_EQ(bars.ticks.front(), 0);
    EXPECT_EQ(bars.text(0), QStringLiteral("0"));
    const ValueAxis log = makeLogAxis(0.02, 300, 4);
    EXPECT_NEAR(log.place(0.01), 0, 1e-9);
    EXPECT_NEAR(log.place(1000), 1, 1e-9);
    EXPECT_EQ(log.place(0), 0) << "zero has no logarithm";
    EXPECT_EQ(log.text(0.1), QStringLiteral("0.1"));
    const ValueAxis constant = makeValueAxis(5, 5, false, 4);
    EXPECT_GT(constant.high, 5);
    EXPECT_LT(constant.low, 5);
}

TEST(PlotAxis, SymLogTellsZeroFromWhatIsSmallOnBothSides)
{
    const ValueAxis times = makeSymLogAxis(0, 40'000, 3, 5);
    EXPECT_EQ(times.ticks, std::vector<double>({ 0, 10, 100, 1'000, 10'000, 100'000 }));
    EXPECT_EQ(times.place(0), 0);
    EXPECT_GT(times.place(3), 0.05) << "the smallest value does not lie on 0";
    EXPECT_NEAR(times.place(100'000), 1, 1e-9);
    EXPECT_LT(times.place(40'000), times.place(100'000));
    EXPECT_EQ(times.text(0), QStringLiteral("0"));
    EXPECT_EQ(times.text(1'000), QStringLiteral("1000"));
    const ValueAxis both = makeSymLogAxis(-0.5, 20, 0.02, 8);
    EXPECT_EQ(both.ticks.size(), 7U);
    EXPECT_NEAR(both.ticks.front(), -1, 1e-9);
    EXPECT_NEAR(both.place(-1), 0, 1e-9);
    EXPECT_NEAR(both.place(100), 1, 1e-9);
    EXPECT_EQ(both.text(both.ticks.front()), QStringLiteral("-1"));
    for (const double value : { 0.02, 0.3, 5.0 })
        EXPECT_NEAR(both.scaled(-value), -both.scaled(value), 1e-12);
    for (std::size_t i = 1; i < both.ticks.size(); ++i)
        EXPECT_LT(both.place(both.ticks[i - 1]), both.place(both.ticks[i]));
}

TEST(PlotAxis, StepsAreRoundAndFarEnoughApart)
{
    const std::vector<std::int64_t> ticks = stepTicks({ 1100, 1234 }, 2.2, 80);
    ASSERT_GE(ticks.size(), 2U);
    for (std::size_t i = 1; i < ticks.size(); ++i)
        EXPECT_GE(static_cast<double>(ticks[i] - ticks[i - 1]) * 2.2, 80);
    EXPECT_EQ(ticks.front() % 50, 0);
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_LE(stepTicks({ huge - 10, huge }, 30, 80).size(), 11U) << "ends at the end of the numbers";
}

TEST(PlotAxis, OutliersAreCutOnlyWhereTheyCrushTheRest)
{
    std::vector<double> even(100, 10.0);
    EXPECT_FALSE(outlierCut(even));
    even.back() = 29;
    EXPECT_FALSE(outlierCut(even)) << "three times the usual still fits";
    even.front() = 4000;
    ASSERT_TRUE(outlierCut(even));
    EXPECT_NEAR(*outlierCut(even), 16, 1e-9);
    std::vector<double> none;
    EXPECT_FALSE(outlierCut(none));
    std::vector<double> zeros { 0, 0, 0, 5 };
    EXPECT_FALSE(outlierCut(zeros)) << "nothing is usual";
}

TEST(StepClock, IsTheSameThereAndBackAndNeverGoesBack)
{
    const StepClock clock(
        { { 10, 1'000'000'000 }, { 11, 1'010'000'000 }, { 12, 1'005'000'000 }, { 20, 1'090'000'000 } });
    EXPECT_DOUBLE_EQ(clock.secondsAt(10.5), 1005);
    EXPECT_DOUBLE_EQ(clock.secondsAt(12), 1010) << "a clock that went back is held";
    EXPECT_DOUBLE_EQ(clock.secondsAt(16), 1050);
    EXPECT_DOUBLE_EQ(clock.stepAt(1050), 16);
    EXPECT_DOUBLE_EQ(clock.secondsAt(21), 1100) << "goes on behind its end";
    EXPECT_TRUE(StepClock({ { 1, 2 } }).isEmpty());
}

TEST(PlotView, ACutBarSaysHowHighItIsAndTheOthersStayReadable)
{
    std::vector<std::int64_t> steps(60);
    std::iota(steps.begin(), steps.end(), 0);
    std::vector<double> values(60, 10.0);
    values[30] = 4000;
    PlotData data =
        dataOf({ QStringLiteral("paused"), PlotDraw::Bars, Token::Pause, plain(steps, values), 1 }, { 0, 59 });
    QStringList said;
    data.format = [&said](double value) {
        said += QString::number(value);
        return said.back();
    };
    PlotView view;
    view.resize(600, 200);
    view.setData(data);
    const auto barsAt = [&](int y) { return count(view.grab().toImage(), { 60, y, 100, 1 }, color(Token::Pause)); };
    EXPECT_EQ(barsAt(120), 0) << "one long bar crushes the others";
    said.clear();
    view.setCutting(true);
    EXPECT_GT(barsAt(120), 50);
    EXPECT_TRUE(said.contains(QStringLiteral("4000")));
}

TEST(PlotView, TimesTakeThePlaceOfStepsWhereTheyAreKnown)
{
    PlotData data =
        dataOf({ QStringLiteral("x"), PlotDraw::Bars, Token::Upload, plain({ 0, 1, 2, 3, 4 }, { 1, 1, 1, 1, 1 }), 1 },
               { 0, 4 });
    PlotView view;
    view.resize(600, 200);
    view.setX(PlotX::Wall);
    view.setData(data);
    QSignalSpy chosen(&view, &PlotView::stepChosen);
    const auto clickAt = [&](double part) {
        view.grab();
        const int x = 40 + qRound(part * (600 - 52));
        QTest::mouseClick(&view, Qt::LeftButton, {}, { x, 100 });
        return chosen.takeLast().at(0).toLongLong();
    };
    EXPECT_EQ(clickAt(0.5), 2);
    // The last step came long after the others.
    data.clock = std::make_shared<const StepClock>(std::vector<std::pair<std::int64_t, std::int64_t>> {
        { 0, 0 }, { 1, 1'000'000 }, { 2, 2'000'000 }, { 3, 3'000'000 }, { 4, 100'000'000 } });
    view.setData(data);
    EXPECT_EQ(clickAt(0.1), 3);
    EXPECT_EQ(clickAt(0.6), 4);
    view.setX(PlotX::Step);
    EXPECT_EQ(clickAt(0.5), 2);
}

TEST(PlotView, WhatIsNoNumberIsMarkedAndDrawsNothing)
{
    PlotView view;
    view.resize(600, 200);
    view.setData(dataOf(
        { QStringLiteral("x"), PlotDraw::Line, Token::Accent, plain({ 0, 1, 2, 3, 4 }, { 1, 2, NAN, 2, HUGE_VAL }), 3 },
        { 0, 4 }));
    const QImage with = view.grab().toImage();
    EXPECT_GT(count(with, { 250, 4, 120, 16 }, color(Token::Text)), 5) << "a mark at the top edge";
    EXPECT_GT(count(with, { 40, 20, 500, 150 }, color(Token::Accent)), 50) << "the others are drawn";
}

TEST(PlotView, BarsStandWhereTheirStepsAre)
{
    PlotView view;
    view.resize(400, 128);
    std::vector<std::int64_t> steps(10);
    std::iota(steps.begin(), steps.end(), 0);
    std::vector<double> values(10, 1.0);
    values[7] = 4.0;
    steps.erase(steps.begin() + 3); // a gap stays a gap
    values.erase(values.begin() + 3);
    view.setData(dataOf({ QStringLiteral("pause"), PlotDraw::Bars, Token::Pause, plain(steps, values), 1 }, { 0, 9 }));
    const QImage picture = view.grab().toImage();
    const QColor pause = color(Token::Pause);
    const double each = view.plotWidth() / 10.0;
    const auto column = [&](int step) { return QRect(qRound(40 + step * each) + 3, 6, qRound(each) - 6, 99); };
    EXPECT_GT(count(picture, column(7), pause), 3 * count(picture, column(6), pause)) << "four times as high";
    EXPECT_GT(count(picture, column(6), pause), 100);
    EXPECT_EQ(count(picture, column(3), pause), 0) << "nothing is known of step 3";
}

TEST(PlotView, AHoleInALineIsNotCrossed)
{
    PlotView view;
    view.resize(400, 128);
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 0; step < 100; ++step) {
        if (step < 40 || step >= 60)
            steps.push_back(step);
    }
    view.setData(dataOf({ QStringLiteral("changed"), PlotDraw::Line, Token::Accent,
                          plain(steps, std::vector<double>(steps.size(), 0.5)), 2 },
                        { 0, 99 }));
    const QImage picture = view.grab().toImage();
    const auto inked = [&](int step) {
        const int x = qRound(40 + (step + 0.5) * view.plotWidth() / 100.0);
        int found = 0;
        for (int y = 7; y < 100; ++y) {
            const QColor pixel = picture.pixelColor(x, y);
            found += pixel.blue() - pixel.red() > 60;
        }
        return found;
    };
    EXPECT_GT(inked(20), 0);
    EXPECT_GT(inked(80), 0);
    EXPECT_EQ(inked(50), 0);
}

TEST(PlotView, ASpikeAmongAMillionPointsIsSeen)
{
    constexpr std::int64_t Points = 1'000'000;
    constexpr std::int64_t Spike = 654'321;
    std::vector<std::pair<std::int64_t, double>> values;
    for (std::int64_t step = 0; step < Points; ++step)
        values.emplace_back(step, step == Spike ? 1.0 : 0.01 * static_cast<double>(step % 7));
    PlotView view;
    view.resize(800, 200);
    PlotSeries series { QStringLiteral("changed"), PlotDraw::Line, Token::Accent, {}, 2 };
    series.columns = app::makeColumns(values, 0, Points - 1, static_cast<std::uint32_t>(view.plotWidth()));
    view.setData(dataOf(std::move(series), { 0, Points - 1 }));
    const QImage picture = view.grab().toImage();
    const auto inked = [&](int x) { return count(picture, QRect(x, 0, 1, view.height() - 24), color(Token::Accent)); };
    std::vector<int> high;
    int least = view.height();
    for (int x = 48; x < 780; ++x) {
        if (inked(x) > 80)
            high.push_back(x);
        least = std::min(least, inked(x));
    }
    EXPECT_GT(least, 3) << "all of what goes up and down in a pixel is filled";
    ASSERT_FALSE(high.empty());
    EXPECT_LE(high.size(), 3U);
    const double right = view.width() - 8.0; // of the plot
    EXPECT_NEAR(high.front(), right - (1 - static_cast<double>(Spike) / Points) * view.plotWidth(), 12);
}

TEST(PlotView, APointWithoutNeighborsIsSeen)
{
    PlotView view;
    view.resize(400, 128);
    view.setData(
        dataOf({ QStringLiteral("changed"), PlotDraw::Line, Token::Accent, plain({ 5 }, { 0.5 }), 2 }, { 0, 10 }));
    EXPECT_GT(count(view.grab().toImage(), view.rect(), color(Token::Accent)), 3);
}

class PlotGestures : public ::testing::Test {
protected:
    PlotGestures()
    {
        view.resize(452, 128); // 400 pixels of plot
        std::vector<std::int64_t> steps(100);
        std::iota(steps.begin(), steps.end(), 0);
        std::vector<double> values(steps.begin(), steps.end());
        view.setData(
            dataOf({ QStringLiteral("value"), PlotDraw::Line, Token::Accent, plain(steps, values), 1 }, { 0, 99 }));
        view.show();
        view.grab();
        QObject::connect(&view, &PlotView::stepChosen, [this](std::int64_t step) { chosen = step; });
        QObject::connect(&view, &PlotView::rangeChosen, [this](std::optional<StepRange> wanted) {
            range = wanted;
            ++ranges;
        });
    }
    static QPoint at(int step) { return { 40 + 4 * step + 2, 50 }; }

    PlotView view;
    std::optional<std::int64_t> chosen;
    std::optional<StepRange> range;
    int ranges = 0;
};

TEST_F(PlotGestures, AClickChoosesAStep)
{
    QTest::mouseClick(&view, Qt::LeftButton, {}, at(37));
    EXPECT_EQ(chosen, 37);
    EXPECT_EQ(ranges, 0);
}

TEST_F(PlotGestures, ADragChoosesARangeAndNoStep)
{
    QTest::mousePress(&view, Qt::LeftButton, {}, at(20));
    QTest::mouseMove(&view, at(60));
    QTest::mouseRelease(&view, Qt::LeftButton, {}, at(60));
    EXPECT_EQ(range, (StepRange { 20, 60 }));
    EXPECT_FALSE(chosen);
}

TEST_F(PlotGestures, ADoubleClickShowsAll)
{
    QTest::mouseDClick(&view, Qt::LeftButton, {}, at(20));
    EXPECT_EQ(ranges, 1);
    EXPECT_FALSE(range);
}

TEST_F(PlotGestures, TheWheelScrollsThePageUnlessTheChartHasTheFocus)
{
    const auto wheel = [&](Qt::KeyboardModifiers keys) {
        QWheelEvent event(at(50), view.mapToGlobal(at(50)), {}, { 0, 120 }, Qt::NoButton, keys, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(&view, &event);
        return event.isAccepted();
    };
    view.clearFocus();
    EXPECT_FALSE(wheel(Qt::NoModifier));
    EXPECT_EQ(ranges, 0);
    EXPECT_TRUE(wheel(Qt::ControlModifier));
    ASSERT_TRUE(range);
    EXPECT_GT(range->first, 0);
    EXPECT_LT(range->second, 99);
    EXPECT_NEAR(static_cast<double>(range->first + range->second) / 2, 50, 2) << "what is under the mouse stays there";
}

TEST_F(PlotGestures, KeysZoomAroundBAndFitAgain)
{
    view.setCursor(std::nullopt, 80);
    QTest::keyClick(&view, Qt::Key_W);
    ASSERT_TRUE(range);
    EXPECT_LE(range->first, 80);
    EXPECT_GE(range->second, 80);
    EXPECT_GT(range->first, 20);
    QTest::keyClick(&view, Qt::Key_F);
    EXPECT_FALSE(range);
}

TEST_F(PlotGestures, ScreenReadersGetTheNumbers)
{
    view.setCursor(std::nullopt, 42);
    const QModelIndex cell = view.currentCell();
    ASSERT_TRUE(cell.isValid());
    EXPECT_EQ(cell.data().toString(), QStringLiteral("42"));
    EXPECT_EQ(view.table()->headerData(cell.row(), Qt::Vertical).toString(), QStringLiteral("step 42"));
    EXPECT_EQ(view.readout(42), QStringLiteral("step 42: value 42"));
}

TEST(PlotView, TenThousandStepsPaintWithinTheBudget)
{
    PlotView view;
    view.resize(1200, 160);
    std::vector<std::pair<std::int64_t, double>> values;
    for (std::int64_t step = 0; step < 10'000; ++step)
        values.emplace_back(step, std::sin(static_cast<double>(step) / 70) + static_cast<double>(step % 13) / 13);
    view.setData(dataOf({ QStringLiteral("v"), PlotDraw::Line, Token::Accent,
                          app::makeColumns(values, 0, 9'999, static_cast<std::uint32_t>(view.plotWidth())), 1.5 },
                        { 0, 9'999 }));
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
        view.repaint();
        best = std::min(best, view.lastPaintMs());
    }
    RecordProperty("paint_ms", std::to_string(best));
    EXPECT_LT(best, 16) << "a frame; 8 ms on the machine of the goals";
}

TEST(PlotView, ManyStackedBarsPaintWithinTheBudget)
{
    PlotView view;
    view.resize(800, 160);
    const int bars = view.plotWidth() / 3;
    PlotData data;
    for (int part = 0; part < 5; ++part) {
        PlotSeries& series = data.series.emplace_back();
        series.draw = PlotDraw::Bars;
        series.token = part == 0 ? Token::Pause : Token::Upload;
        std::vector<std::int64_t> steps(static_cast<std::size_t>(bars));
        std::iota(steps.begin(), steps.end(), 0);
        std::vector<double> values;
        for (const std::int64_t step : steps)
            values.push_back(1 + static_cast<double>(step % 17) / 17);
        series.columns = plain(std::move(steps), std::move(values));
    }
    data.stacked = true;
    data.range = data.limit = { 0, bars - 1 };
    data.format = [](double value) { return QString::number(value); };
    view.show();
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
        view.setData(data); // with the way from values to shapes
        view.repaint();
        best = std::min(best, view.lastPaintMs());
    }
    RecordProperty("paint_ms", std::to_string(best));
    EXPECT_LT(best, 16) << "edges that are painted in the wrong order take quadratic time";
}

TEST(PlotCard, TheTableShowsWhatTheChartShows)
{
    PlotCard card(QStringLiteral("test"), QStringLiteral("Pause"), PlotCard::Smoothing::Off);
    PlotData data =
        dataOf({ QStringLiteral("paused"), PlotDraw::Bars, Token::Pause, plain({ 3, 4 }, { 1.5, 2.5 }), 1 }, { 3, 4 });
    data.format = [](double value) { return durationText(value); };
    card.setData(std::move(data), QStringLiteral("s"), QStringLiteral("s, slowest replica"), {});
    card.setAsTable(true);
    EXPECT_TRUE(card.isTable());
    EXPECT_EQ(card.view()->table()->index(1, 0).data().toString(), QStringLiteral("2.5 s"));
    EXPECT_EQ(card.csv(), "step,\"paused (s)\"\n3,1.5\n4,2.5\n");
    EXPECT_EQ(card.valuesAsText(), QStringLiteral("step\t\"paused (s)\"\n3\t1.5\n4\t2.5\n"));
}

TEST(PlotCard, ExportsAPictureADrawingAndValues)
{
    const QTemporaryDir folder;
    PlotCard card(QStringLiteral("test"), QStringLiteral("Changed"), PlotCard::Smoothing::Off);
    card.resize(400, 200);
    card.setData(
        dataOf({ QStringLiteral("x"), PlotDraw::Line, Token::Accent, plain({ 0, 1, 2 }, { 1, 2, 3 }), 1.5 }, { 0, 2 }),
        QStringLiteral("%"), QStringLiteral("% of elements"), {});
    for (const char* name : { "a.png", "a.svg", "a.csv" })
        card.exportTo(folder.filePath(QString::fromLatin1(name)));
    EXPECT_EQ(QImage(folder.filePath(QStringLiteral("a.png"))).size(), QSize(400, 200));
    QFile svg(folder.filePath(QStringLiteral("a.svg")));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QByteArray drawing = svg.readAll();
    EXPECT_TRUE(drawing.contains("<svg")) << "the drawing";
    EXPECT_TRUE(drawing.contains("Changed")) << "its title";
    QFile csv(folder.filePath(QStringLiteral("a.csv")));
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
    EXPECT_EQ(csv.readAll(), card.csv());
}

}
} // namespace deltascope::desktop
