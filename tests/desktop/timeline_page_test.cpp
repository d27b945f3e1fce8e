#include "desktop_fixture.h"

#include "deltascope/app/view/timeline_view.h"
#include "deltascope/engine/stores.h"
#include "deltascope/engine/trace.h"
#include "look/format.h"
#include "pages/timeline/bars_canvas.h"
#include "pages/timeline/lanes_canvas.h"
#include "pages/timeline/pause_summary.h"
#include "pages/timeline/step_window.h"
#include "pages/timeline/sync_details.h"
#include "pages/timeline/time_ticks.h"
#include "pages/timeline/timeline_page.h"

#include <QComboBox>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QUndoStack>

namespace deltascope::desktop {
namespace {

constexpr std::int64_t Second = 1'000'000;
constexpr std::int64_t BeginUs = 1'787'315'000 * Second;

class TimelinePageTest : public DesktopFixture {
protected:
    /// A run of which a publisher and two replicas tell; r1 is the slower one, and very slow at step 7.
    TimelinePage* timeline()
    {
        const app::SourceRequest request = golden("trl-v2-gap");
        const std::shared_ptr<ObjectStore> store = *Stores().open(request.source);
        SpanWriter publisher(store, "publisher");
        SpanWriter fast(store, "r0");
        SpanWriter slow(store, "r1");
        for (std::int64_t step = 2; step <= 12; ++step) {
            const std::int64_t begin = BeginUs + step * 20 * Second;
            publisher.add({ {}, "encode", step, 0, begin, begin + Second, 0, {} });
            publisher.add({ {}, "upload", step, 0, begin + Second, begin + 5 * Second, 8'000'000, {} });
            addReplica(fast, step, begin + 5 * Second, Second);
            addReplica(slow, step, begin + 5 * Second, step == 7 ? 4 * Second : 2 * Second);
        }
        publisher.flush();
        fast.flush();
        slow.flush();
        return openPage(request);
    }
    static void addReplica(SpanWriter& replica, std::int64_t step, std::int64_t visible, std::int64_t pause)
    {
        replica.add({ {}, "fetch", step, 0, visible, visible + Second, 8'000'000, {} });
        replica.add({ {}, "verify", step, 0, visible + Second, visible + Second + Second / 2, 0, {} });
        const std::int64_t stop = visible + 3 * Second / 2;
        replica.add({ {}, "apply", step, 0, stop, stop + pause / 2, 0, {} });
        replica.add({ {}, "pause", step, 0, stop, stop + pause, 0, {} });
    }
    TimelinePage* openPage(const app::SourceRequest& request)
    {
        window->openSource(request);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled && !run->run->spans.empty();
        }));
        auto* page = show<TimelinePage>("timeline");
        EXPECT_TRUE(waitFor([&] { return page->model() != nullptr; }));
        return page;
    }
    static QString cell(QAbstractItemModel* table, std::int64_t step, const QString& column)
    {
        for (int row = 0; row < table->rowCount(); ++row) {
            if (table->headerData(row, Qt::Vertical).toString() != QStringLiteral("step %1").arg(step))
                continue;
            for (int at = 0; at < table->columnCount(); ++at) {
                if (table->headerData(at, Qt::Horizontal).toString() == column)
                    return table->index(row, at).data().toString();
            }
        }
        return QStringLiteral("no such cell");
    }
    /// The middle of a bar.
    static QPoint placeOf(const TimelinePage& page, std::int64_t step)
    {
        auto& bars = const_cast<TimelinePage&>(page).bars();
        const auto& all = page.model()->syncs;
        const auto at = std::find_if(all.begin(), all.end(), [&](const BarSlot& slot) { return slot.step == step; });
        const QRectF plot = barPlot(bars.size());
        const double cell = plot.width() / static_cast<double>(all.size());
        return QPointF(plot.left() + (static_cast<double>(at - all.begin()) + 0.5) * cell, plot.center().y()).toPoint();
    }
};

TEST_F(TimelinePageTest, BarsTellWhatTheSlowestReplicaTook)
{
    TimelinePage* page = timeline();
    QAbstractItemModel* table = page->bars().table();
    EXPECT_EQ(cell(table, 7, "replica"), "r1");
    EXPECT_EQ(cell(table, 7, "sync total"), "10.5 s");
    EXPECT_EQ(cell(table, 7, "paused"), "4.0 s");
    EXPECT_EQ(cell(table, 7, "upload"), "4.0 s");
    EXPECT_EQ(cell(table, 7, "fetch, stage"), "1.0 s");
    EXPECT_EQ(cell(table, 7, "resume"), unknownText());
    EXPECT_EQ(cell(table, 8, "paused"), "2.0 s");
    EXPECT_EQ(cell(table, 13, "sync total"), unknownText()) << "nobody told of it";
}

TEST_F(TimelinePageTest, SummaryIsOfAllReplicas)
{
    TimelinePage* page = timeline();
    const QString text = page->summary().text();
    // 11 steps of r0 with 1 s, 10 of r1 with 2 s, one with 4 s
    EXPECT_TRUE(text.contains("35.0 s")) << qPrintable(text);
    EXPECT_TRUE(text.contains("p50 1.0 s")) << qPrintable(text);
    EXPECT_TRUE(text.contains("p95 2.0 s")) << qPrintable(text);
    EXPECT_TRUE(text.contains("Worst 4.0 s")) << qPrintable(text);
    const auto go = page->summary().findChild<QPushButton*>();
    EXPECT_EQ(go->text(), "r1, step 7");
    go->click();
    EXPECT_EQ(window->cursor().b()->step, 7);
}

TEST_F(TimelinePageTest, AClickOnABarChoosesItsStep)
{
    TimelinePage* page = timeline();
    QTest::mouseClick(&page->bars(), Qt::LeftButton, {}, placeOf(*page, 7));
    ASSERT_TRUE(window->cursor().b());
    EXPECT_EQ(window->cursor().b()->step, 7);
    EXPECT_FALSE(window->cursor().state().follow);
    EXPECT_EQ(page->bars().currentCell().siblingAtColumn(0).data().toString(), "r1");
    EXPECT_TRUE(page->bars().accessibleDescription().contains("4.0 s paused"));
}

TEST_F(TimelinePageTest, ADragShowsARangeAndCanBeUndone)
{
    TimelinePage* page = timeline();
    QTest::mousePress(&page->bars(), Qt::LeftButton, {}, placeOf(*page, 5));
    QTest::mouseMove(&page->bars(), placeOf(*page, 6));
    QTest::mouseMove(&page->bars(), placeOf(*page, 9));
    QTest::mouseRelease(&page->bars(), Qt::LeftButton, {}, placeOf(*page, 9));
    ASSERT_TRUE(window->cursor().state().range);
    EXPECT_EQ(*window->cursor().state().range, (StepRange { 5, 9 }));
    EXPECT_TRUE(waitFor([&] { return page->model()->steps == StepRange { 5, 9 }; }));
    EXPECT_TRUE(page->summary().text().contains("17.0 s")) << qPrintable(page->summary().text());
    window->actions().trigger("view.undo");
    EXPECT_FALSE(window->cursor().state().range);
    EXPECT_TRUE(waitFor([&] { return page->model()->steps.second > 9; }));
}

TEST_F(TimelinePageTest, KeysZoomAndPanAndFit)
{
    TimelinePage* page = timeline();
    page->bars().setFocus();
    QTest::keyClick(&page->bars(), Qt::Key_W);
    ASSERT_TRUE(window->cursor().state().range);
    const StepRange zoomed = *window->cursor().state().range;
    EXPECT_LT(zoomed.second - zoomed.first, page->model()->steps.second - page->model()->steps.first);
    EXPECT_TRUE(waitFor([&] { return page->model()->steps == zoomed; }));
    QTest::keyClick(&page->bars(), Qt::Key_A);
    ASSERT_TRUE(window->cursor().state().range);
    EXPECT_LT(window->cursor().state().range->first, zoomed.first);
    QTest::keyClick(&page->bars(), Qt::Key_F);
    EXPECT_FALSE(window->cursor().state().range);
}

TEST_F(TimelinePageTest, AReplicaCanBeChosen)
{
    TimelinePage* page = timeline();
    QComboBox* actors = nullptr;
    for (QComboBox* box : page->findChildren<QComboBox*>()) {
        if (box->findText("r0") >= 0)
            actors = box;
    }
    ASSERT_TRUE(actors);
    actors->setCurrentIndex(actors->findText("r0"));
    emit actors->activated(actors->currentIndex());
    EXPECT_TRUE(waitFor([&] { return page->model()->actor == "r0"; }));
    EXPECT_EQ(cell(page->bars().table(), 7, "paused"), "1.0 s");
}

TEST_F(TimelinePageTest, LanesJoinAPauseAndCountPublications)
{
    TimelinePage* page = timeline();
    const auto& lanes = page->model()->lanes;
    ASSERT_EQ(lanes.size(), 4U);
    EXPECT_EQ(lanes[0].actor, "publisher");
    EXPECT_TRUE(lanes[1].bucket);
    EXPECT_EQ(lanes[3].actor, "r1");
    EXPECT_EQ(lanes[3].pauses.size(), 11U);
    EXPECT_EQ(page->lanes().table()->rowCount(), 11 * (2 + 2 * 4));
    EXPECT_EQ(page->model()->clock.visible.size(), page->model()->syncs.size());
}

TEST_F(TimelinePageTest, TheWallClockZoomsAndItCanBeUndone)
{
    TimelinePage* page = timeline();
    window->cursor().setB({ 0, 7 });
    EXPECT_TRUE(waitFor([&] { return page->lanes().stepAtCursor()->step == 7; }));
    page->lanes().setFocus();
    QTest::keyClick(&page->lanes(), Qt::Key_F);
    const TimeWindow before = page->lanes().window();
    const double begin = static_cast<double>(BeginUs + 7 * 20 * Second);
    EXPECT_LT(before.fromUs, begin);
    EXPECT_GT(before.toUs, begin + 10.5e6);
    QTest::qWait(700); // zooms that follow closely are one
    QTest::keyClick(&page->lanes(), Qt::Key_W);
    EXPECT_NEAR(page->lanes().window().lengthUs(), before.lengthUs() / 1.4, 1);
    window->actions().trigger("view.undo");
    EXPECT_EQ(page->lanes().window(), before);
}

TEST_F(TimelinePageTest, ATotalOnlySaysSo)
{
    const app::SourceRequest request = golden("trl-v2-gap");
    const std::shared_ptr<ObjectStore> store = *Stores().open(request.source);
    {
        SpanWriter trainer(store, "trainer");
        trainer.add({ {}, "sync", 3, 0, BeginUs, BeginUs + 5 * Second, 0, {} });
    }
    TimelinePage* page = openPage(request);
    window->cursor().setB({ 0, 3 });
    EXPECT_EQ(cell(page->bars().table(), 3, "sync total"), "5.0 s");
    EXPECT_EQ(cell(page->bars().table(), 3, "upload"), unknownText());
    EXPECT_EQ(cell(page->bars().table(), 3, "paused"), unknownText());
    bool said = false;
    for (const QLabel* label : page->details().findChildren<QLabel*>())
        said = said || (label->isVisible() && label->text().startsWith("Breakdown not reported"));
    EXPECT_TRUE(said);
    EXPECT_TRUE(page->summary().text().contains("No pause was reported"));
}

TEST_F(TimelinePageTest, WithoutSpansThePageSaysWhereTheyComeFrom)
{
    open("trl-v2-gap");
    auto* page = show<TimelinePage>("timeline");
    EXPECT_FALSE(page->bars().isVisible());
    bool said = false;
    for (const QLabel* label : page->findChildren<QLabel*>())
        said = said || (label->isVisible() && label->text().contains("No sync times are known"));
    EXPECT_TRUE(said);
}

TEST_F(TimelinePageTest, TheTraceHasAProcessPerActor)
{
    TimelinePage* page = timeline();
    const QString path = QString::fromStdString(home.path("syncs.json"));
    page->saveTrace(path);
    ASSERT_TRUE(waitFor([&] { return QFile::exists(path); }));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QJsonArray events = QJsonDocument::fromJson(file.readAll()).object().value("traceEvents").toArray();
    int spans = 0;
    for (const QJsonValue& event : events)
        spans += event["ph"].toString() == "X";
    EXPECT_EQ(spans, 11 * (2 + 2 * 4));
}

TEST(SyncText, IsOneLine)
{
    app::BarView bar;
    bar.step = 1217;
    bar.actor = "r2";
    bar.t1Us = 14 * Second;
    bar.pauseUs = 4 * Second;
    bar.phases = { { "pause", 4 * Second }, { "upload", 10 * Second } };
    EXPECT_EQ(SyncDetails::asText(bar), "step 1217 r2: total 14.00 s, paused 4.00 s; upload 10.00 s, pause 4.00 s");
}

TEST(Phases, OfOneGroupAreOneStretch)
{
    app::BarView bar;
    bar.phases = { { "pause.apply", 2 }, { "pause", 3 }, { "stage", 4 }, { "fetch", 5 }, { "optimizer", 6 } };
    const auto stretches = stretchesOf(bar);
    ASSERT_EQ(stretches.size(), 3U);
    EXPECT_EQ(stretches[0].group, PhaseGroup::Pause);
    EXPECT_EQ(stretches[0].toUs, 5);
    EXPECT_EQ(stretches[1].group, PhaseGroup::Fetch);
    EXPECT_EQ(stretches[1].toUs, 14);
    EXPECT_EQ(stretches[2].group, PhaseGroup::Other);
    EXPECT_FALSE(hasNoBreakdown(bar));
}

TEST(StepWindow, StaysWithinTheEpoch)
{
    app::EpochView epoch;
    for (std::int64_t step = 0; step < 100; ++step) {
        app::StepView view;
        view.step = 10 * step;
        view.state = "complete";
        epoch.steps.push_back(view);
    }
    EXPECT_EQ(windowAround(epoch, 990, 20), (StepRange { 800, 990 }));
    EXPECT_EQ(windowAround(epoch, 0, 20), (StepRange { 0, 190 }));
    EXPECT_EQ(versionsIn(epoch, *windowAround(epoch, 500, 20)), 20U);
    EXPECT_EQ(windowAround(epoch, 500, 1000), (StepRange { 0, 990 }));
    const StepRange zoomed = zoomedWindow(epoch, { 0, 990 }, 1, 2);
    EXPECT_EQ(zoomed, (StepRange { 500, 990 }));
    EXPECT_EQ(zoomedWindow(epoch, zoomed, 0.5, 0.01), (StepRange { 0, 990 }));
    EXPECT_EQ(versionsIn(epoch, zoomedWindow(epoch, zoomed, 0.5, 1e6)), 5U);
    EXPECT_EQ(pannedWindow(epoch, zoomed, 30), zoomed) << "there is nothing newer";
    EXPECT_EQ(pannedWindow(epoch, zoomed, -10), (StepRange { 400, 890 }));
    EXPECT_FALSE(windowAround({}, 0, 20));
}

TEST(TimeTicks, AreRoundAndWithin)
{
    EXPECT_EQ(timeTickUs(1), 1);
    EXPECT_EQ(timeTickUs(7e6), 10 * Second);
    EXPECT_EQ(timeTickUs(61e6), 120 * Second);
    const TimeWindow window { static_cast<double>(BeginUs) + 1.5e6, static_cast<double>(BeginUs) + 11e6 };
    const auto ticks = timeTicks(window, 2 * Second);
    ASSERT_EQ(ticks.size(), 5U);
    EXPECT_EQ(ticks.front(), BeginUs + 2 * Second);
    EXPECT_EQ(timeTickText(ticks[1], 2 * Second).size(), 8);
}

}
} // namespace deltascope::desktop
