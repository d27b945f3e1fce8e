#include "desktop_fixture.h"
#include "made_run.h"

#include "heat/mini_heatmap.h"
#include "look/format.h"
#include "pages/live/chart_grid.h"
#include "pages/live/feed_card.h"
#include "pages/live/health_tile.h"
#include "pages/live/kpi_row.h"
#include "pages/live/live_page.h"
#include "pages/live/live_plots.h"
#include "pages/live/replicas_card.h"
#include "pages/live/rule_links.h"
#include "plot/plot_card.h"
#include "widgets/cards.h"
#include "widgets/part_mover.h"

#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QUndoStack>

namespace deltascope::desktop {
namespace {

class LivePageTest : public DesktopFixture {
protected:
    /// A bucket that nobody writes any more: what is incomplete in it will stay so.
    void openOld(const std::string& bucket)
    {
        const app::SourceRequest request = golden(bucket);
        const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
        for (const auto& file : std::filesystem::recursive_directory_iterator(request.source.text()))
            std::filesystem::last_write_time(file.path(), before);
        window->openSource(request);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled;
        }));
    }
    LivePage* live(const std::string& bucket)
    {
        openOld(bucket);
        auto* page = show<LivePage>("live");
        EXPECT_TRUE(waitFor([&] { return page->isUpToDate() && page->shown()->run->run->settled; }));
        return page;
    }
    static QString context(const KpiTile& tile)
    {
        QString text;
        for (const KpiTile::Run& run : tile.content().context)
            text += run.text;
        return text;
    }
    static QPushButton* button(QWidget& in, const QString& text)
    {
        for (QPushButton* found : in.findChildren<QPushButton*>()) {
            if (found->text().startsWith(text))
                return found;
        }
        return nullptr;
    }
};

TEST_F(LivePageTest, TilesTellWhatTheSummarySays)
{
    LivePage* page = live("trl-v2-gap");
    const app::KpiView kpi = app::makeRunSummary(window->focus().run()).kpi;
    ASSERT_TRUE(kpi.latest);
    const KpiRow& tiles = page->tiles();
    EXPECT_EQ(tiles.tile(KpiRow::Latest).content().value.value, QString::number(*kpi.latest));
    EXPECT_EQ(tiles.tile(KpiRow::Changed).content().value.text(), percentText(kpi.changedFraction));
    EXPECT_EQ(tiles.tile(KpiRow::DeltaSize).content().value.text(), bytesText(kpi.deltaBytes));
    EXPECT_TRUE(context(tiles.tile(KpiRow::DeltaSize)).startsWith(timesText(kpi.ratio)));
    EXPECT_FALSE(tiles.tile(KpiRow::Latest).content().bad);
    EXPECT_TRUE(waitFor([&] { return page->health().health().state == "sound"; }));
    EXPECT_EQ(page->health().property("role").toString(), QStringLiteral("card"));
    EXPECT_EQ(
        page->health().text(),
        QStringLiteral("Bytes as first read, which may be just now, to step 15. Can be restored: from step 1 on"));
}

TEST_F(LivePageTest, WhatNobodyReportedIsUnknownAndNotZero)
{
    LivePage* page = live("trl-v2-gap"); // without spans and heartbeats
    EXPECT_EQ(page->tiles().tile(KpiRow::Paused).content().value.value, unknownText());
    EXPECT_EQ(page->tiles().tile(KpiRow::Replicas).content().value.value, unknownText());
    EXPECT_TRUE(page->plot(LivePage::Pause).view()->data().isEmpty());
    EXPECT_TRUE(page->plot(LivePage::Sync).view()->data().isEmpty());
    EXPECT_TRUE(page->replicas().list()->isHidden());
}

TEST_F(LivePageTest, ChartsShowTheNumbersOfTheSteps)
{
    LivePage* page = live("trl-v2-gap");
    const app::EpochView* epoch = window->focus().epoch();
    ASSERT_TRUE(epoch);
    const auto& table = *static_cast<PlotTable*>(page->plot(LivePage::Changed).view()->table());
    std::size_t seen = 0;
    for (const app::StepView& step : epoch->steps) {
        const int row = table.rowOf(static_cast<double>(step.step));
        const bool there = row >= 0 && table.step(row) == step.step;
        ASSERT_EQ(there, step.changedFraction.has_value()) << step.step;
        if (!there)
            continue;
        ++seen;
        EXPECT_EQ(table.index(row, 0).data().toString(), percentText(step.changedFraction)) << step.step;
    }
    EXPECT_GT(seen, 3U);
    const PlotData& delta = page->plot(LivePage::DeltaSize).view()->data();
    for (const app::StepView& step : epoch->steps) {
        const auto& x = delta.series.at(0).columns.x;
        EXPECT_EQ(std::find(x.begin(), x.end(), step.step) != x.end(), step.kind == "delta") << "anchors are not drawn";
    }
}

TEST_F(LivePageTest, TheChartOfSizesTellsOfAnchorsOnlyWhereItHasSome)
{
    for (const auto& [bucket, hasAnchors] : { std::pair("trl-v2-gap", true), std::pair("slime-v2-xor", false) }) {
        openOld(bucket);
        LiveQuestion question;
        question.run = window->focus().run();
        question.range = { 0, 20 };
        const auto data = makeLiveData(question);
        EXPECT_TRUE(data->summary.kpi.fullBytes) << bucket;
        EXPECT_EQ(deltaPlot(*data).legend.size(), hasAnchors ? 1U : 0U) << bucket;
    }
}

TEST(LivePlots, TheWordsOfStepsStandWhereTheirStepsAre)
{
    const MadeRun made { .first = 0, .last = 20 };
    const std::shared_ptr<app::RunSnapshot> snapshot = made.snapshot();
    auto run = std::make_shared<app::RunView>(*snapshot->run);
    run->refs.resize(4);
    for (app::RefView& ref : run->refs) {
        ref.word = "gone";
        ref.step = 7;
    }
    run->refs[1].word = "good";
    run->refs[1].step = 12;
    run->refs[1].isHere = true;
    run->refs[2].isHere = true; // of another epoch
    run->refs[2].epoch = 1;
    run->refs[3].step.reset(); // names no version
    snapshot->run = run;
    LiveQuestion question;
    question.run = snapshot;
    question.range = { 0, 20 };
    const LivePlot plot = changedPlot(*makeLiveData(question));
    ASSERT_EQ(plot.data.marks.size(), 1U) << "what is not in this epoch is not drawn";
    EXPECT_EQ(plot.data.marks[0].step, 12);
    EXPECT_EQ(plot.data.marks[0].text, QStringLiteral("good"));
}

TEST_F(LivePageTest, AClickOnAChartSetsBInAllOfThem)
{
    LivePage* page = live("trl-v2-gap");
    PlotView* view = page->plot(LivePage::DeltaSize).view();
    const std::int64_t wanted = view->data().series.at(0).columns.x.at(2);
    emit view->stepChosen(wanted);
    ASSERT_TRUE(window->cursor().b());
    EXPECT_EQ(window->cursor().b()->step, wanted);
    EXPECT_FALSE(window->cursor().state().follow);
    for (int i = 0; i < LivePage::PlotCount; ++i) {
        PlotView* other = page->plot(static_cast<LivePage::Plot>(i)).view();
        if (i == LivePage::DeltaSize) {
            EXPECT_EQ(other->currentCell().row(), 2);
        }
    }
}

TEST_F(LivePageTest, ARangeIsSharedAndCanBeUndone)
{
    LivePage* page = live("trl-v2-gap");
    const StepRange whole = *window->focus().shownRange();
    const StepRange part { whole.first + 2, whole.first + 6 };
    emit page->plot(LivePage::Changed).view()->rangeChosen(part);
    EXPECT_EQ(window->focus().shownRange(), part);
    ASSERT_TRUE(waitFor([&] { return page->isUpToDate() && page->shown()->range == part; }));
    for (int i = 0; i < LivePage::PlotCount; ++i)
        EXPECT_EQ(page->plot(static_cast<LivePage::Plot>(i)).view()->data().range, part);
    const auto heat = page->shown()->heat;
    for (const LayerHeat::Column& column : heat->columns)
        EXPECT_TRUE(column.step >= part.first && column.step <= part.second);
    window->findChild<QUndoStack*>()->undo();
    EXPECT_EQ(window->focus().shownRange(), whole);
}

TEST_F(LivePageTest, TheMiniHeatmapAveragesTheTensorsOfALayer)
{
    LivePage* page = live("trl-v2-gap");
    const RunPointer run = window->focus().run();
    ASSERT_TRUE(run->heat);
    ASSERT_TRUE(waitFor([&] { return page->shown()->heat != nullptr; }));
    const LayerHeat& heat = *page->shown()->heat;
    ASSERT_FALSE(heat.layers.empty());
    std::size_t rows = 0;
    for (const LayerHeat::Layer& layer : heat.layers) {
        EXPECT_EQ(layer.first, rows) << "each tensor is in one layer";
        rows += layer.count;
    }
    EXPECT_EQ(rows, run->heat->rows.size());
    std::size_t checked = 0;
    for (const LayerHeat::Column& column : heat.columns) {
        if (!column.codes)
            continue;
        for (std::size_t i = 0; i < heat.layers.size(); ++i) {
            double changed = 0;
            double elements = 0;
            for (std::size_t row = heat.layers[i].first; row < heat.layers[i].first + heat.layers[i].count; ++row) {
                const auto size = static_cast<double>(run->heat->rows[row].elements);
                changed += app::heatShare((*column.tensors)[row]) * size;
                elements += size;
            }
            EXPECT_NEAR(app::heatShare((*column.codes)[i]), changed / elements, 0.03 * changed / elements + 1e-12);
            ++checked;
        }
    }
    EXPECT_GT(checked, 10U);
}

TEST_F(LivePageTest, EnterOnTheMiniHeatmapAsksForTheHeatmap)
{
    LivePage* page = live("trl-v2-gap");
    bool opened = false;
    QObject::connect(&page->heat(), &MiniHeatmap::opened, [&] { opened = true; });
    QTest::keyClick(&page->heat(), Qt::Key_Return);
    EXPECT_TRUE(opened);
}

TEST_F(LivePageTest, DamageIsSaidWithTheStepAndTheWayOut)
{
    LivePage* page = live("trl-v2-truncated"); // delta 13, the newest one, is cut short
    const app::HealthView& health = page->health().health();
    EXPECT_EQ(page->health().property("role").toString(), QStringLiteral("banner"));
    EXPECT_TRUE(page->health().text().startsWith(QStringLiteral("Step 13 is damaged")))
        << page->health().text().toStdString();
    EXPECT_TRUE(page->tiles().tile(KpiRow::Latest).content().bad);
    ASSERT_EQ(health.step, 13);
    ASSERT_EQ(health.restore, 12);
    QPushButton* go = button(page->health(), QStringLiteral("Go to step"));
    ASSERT_TRUE(go);
    QTest::mouseClick(go, Qt::LeftButton);
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 13 }));
    QPushButton* way = button(page->health(), QStringLiteral("Materialize"));
    ASSERT_TRUE(way);
    EXPECT_TRUE(way->text().contains(QStringLiteral("12")));
}

TEST_F(LivePageTest, TheFirstTileIsWholeInTheSmallestWindow)
{
    window->resize(1024, 640);
    LivePage* page = live("trl-v2-truncated");
    ASSERT_TRUE(waitFor([&] { return page->health().isVisible(); }));
    QTest::qWait(200);
    for (const QLabel* label : page->health().findChildren<QLabel*>()) {
        if (label->isHidden())
            continue;
        EXPECT_GE(label->height(), label->heightForWidth(label->width())) << label->text().toStdString();
    }
    EXPECT_LT(page->health().height(), page->height() / 2);
}

TEST_F(LivePageTest, ARunWithALostDeltaIsBrokenAtFirstGlance)
{
    LivePage* page = live("trl-v2-gap-in-chain"); // delta 6 is gone; 7 to 9 cannot be rebuilt, the anchor at 10 can
    EXPECT_EQ(page->health().property("role").toString(), QStringLiteral("banner"));
    QStringList shown;
    for (const QLabel* label : page->health().findChildren<QLabel*>())
        shown += label->text();
    EXPECT_EQ(shown.value(0), QStringLiteral("✕ Step 6 is lost: steps 7 to 9 cannot be rebuilt"));
    EXPECT_EQ(shown.value(1), QStringLiteral("Can be restored: steps 1 to 5, and from 10 on"));
    EXPECT_EQ(shown.value(2), QStringLiteral("Put step 6 back if there is a copy of it"));
    EXPECT_FALSE(page->tiles().tile(KpiRow::Latest).content().bad) << "the newest chain is sound";
    EXPECT_TRUE(waitFor([page] {
        const int end = page->health().mapTo(page, QPoint(0, page->health().height())).y();
        return end <= page->tiles().mapTo(page, QPoint()).y();
    })) << "it comes first";
}

TEST_F(LivePageTest, EventsGoToTheirSteps)
{
    LivePage* page = live("trl-v2-gap");
    auto* model = page->feed().list()->model();
    ASSERT_GT(model->rowCount(), 2);
    const auto& item = static_cast<FeedModel*>(model)->item(2);
    ASSERT_TRUE(item.step);
    emit page->feed().list()->activated(model->index(2, FeedModel::Text));
    EXPECT_EQ(window->cursor().b()->step, *item.step);
    EXPECT_TRUE(model->index(0, FeedModel::Text).data().toString().contains(QStringLiteral("published")));
}

TEST(FeedModelTest, RowsStayWhileOthersComeAndGo)
{
    const auto feedOf = [](std::vector<int> times) {
        std::vector<app::FeedItemView> feed;
        for (const int time : times)
            feed.push_back({ time, "published", time, std::to_string(time) });
        return feed;
    };
    FeedModel model;
    const auto times = [&model] {
        std::vector<int> found;
        for (int row = 0; row < model.rowCount(); ++row)
            found.push_back(static_cast<int>(model.item(row).tUs));
        return found;
    };
    int resets = 0;
    QObject::connect(&model, &QAbstractItemModel::modelReset, [&resets] { ++resets; });
    model.setFeed(feedOf({ 50, 40, 30, 20 }), 0);
    EXPECT_EQ(resets, 1);
    const QPersistentModelIndex chosen = model.index(2, 0);

    for (const std::vector<int>& next :
         std::vector<std::vector<int>> { { 70, 60, 50, 40, 30, 20 }, // two more
                                         { 80, 70, 60, 50, 40, 30 }, // and the oldest goes
                                         { 80, 75, 60, 50, 40, 30 }, // one is another
                                         { 80, 75, 60, 55, 50, 40, 30 }, // one comes late
                                         { 60, 55, 50, 40, 30 },
                                         { 60, 55, 50, 40, 30, 10, 5 } }) {
        model.setFeed(feedOf(next), 0);
        EXPECT_EQ(times(), next);
        ASSERT_TRUE(chosen.isValid());
        EXPECT_EQ(model.item(chosen.row()).tUs, 30);
    }
    EXPECT_EQ(resets, 1);
    model.setFeed(feedOf({ 9, 8 }), 0); // of another run
    EXPECT_EQ(times(), (std::vector { 9, 8 }));
    EXPECT_EQ(resets, 2);
    model.setFeed({}, 0);
    EXPECT_EQ(model.rowCount(), 0);
    model.setFeed(feedOf({ 1 }), 0);
    EXPECT_EQ(times(), (std::vector { 1 }));
}

TEST_F(LivePageTest, EverythingThatTakesTheFocusHasAName)
{
    LivePage* page = live("trl-v2-gap");
    for (QWidget* widget : page->findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible())
            continue;
        const auto* named = qobject_cast<QAbstractButton*>(widget);
        EXPECT_TRUE(!widget->accessibleName().isEmpty() || (named && !named->text().isEmpty()))
            << widget->metaObject()->className();
    }
}

TEST_F(LivePageTest, ChartsMoveByKeysAndByTheMouseAndStayThere)
{
    QSettings().remove(QStringLiteral("live"));
    LivePage* page = live("trl-v2-gap");
    ChartGrid& charts = page->charts();
    const QStringList usual { QStringLiteral("changed"), QStringLiteral("pause"), QStringLiteral("delta"),
                              QStringLiteral("sync"), QStringLiteral("lag") };
    EXPECT_EQ(charts.order(), usual);
    PlotCard& lag = page->plot(LivePage::Lag);
    QTest::keyClick(lag.view(), Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(charts.order().indexOf(QStringLiteral("lag")), 3);
    QTest::qWait(50);
    PlotCard& changed = page->plot(LivePage::Changed);
    QWidget* title = lag.titleBar();
    const QPoint to = title->mapFromGlobal(changed.mapToGlobal(changed.rect().center()));
    QTest::mousePress(title, Qt::LeftButton, {}, { 20, 10 });
    QTest::mouseMove(title, { 40, 12 });
    QTest::mouseMove(title, to);
    QTest::mouseRelease(title, Qt::LeftButton, {}, to);
    EXPECT_EQ(charts.order().front(), QStringLiteral("lag"));
    charts.setPinned(&page->plot(LivePage::Sync), true);
    EXPECT_EQ(charts.order().front(), QStringLiteral("sync")) << "pinned ones come first";
    charts.move(&lag, -9);
    EXPECT_EQ(charts.order().indexOf(QStringLiteral("lag")), 1) << "and stay there";
    QWidget other;
    const ChartGrid again({ { QStringLiteral("pause"), new PlotCard({}, {}, PlotCard::Smoothing::Off) },
                            { QStringLiteral("lag"), new PlotCard({}, {}, PlotCard::Smoothing::Off) },
                            { QStringLiteral("sync"), new PlotCard({}, {}, PlotCard::Smoothing::Off) } },
                          *new PartMover(&other));
    EXPECT_EQ(again.order(), (QStringList { QStringLiteral("sync"), QStringLiteral("lag"), QStringLiteral("pause") }));
    QSettings().remove(QStringLiteral("live"));
}

TEST_F(LivePageTest, ADoubleClickOnATitleShowsOneChartAloneAndAllAgain)
{
    LivePage* page = live("trl-v2-gap");
    PlotCard& pause = page->plot(LivePage::Pause);
    QTest::mouseDClick(pause.titleBar(), Qt::LeftButton, {}, { 20, 10 });
    EXPECT_EQ(page->charts().alone(), &pause);
    EXPECT_TRUE(page->plot(LivePage::Changed).isHidden());
    EXPECT_TRUE(page->heatCard().isHidden());
    QTest::keyClick(pause.view(), Qt::Key_Return);
    EXPECT_EQ(page->charts().alone(), nullptr);
    EXPECT_FALSE(page->plot(LivePage::Changed).isHidden());
    EXPECT_FALSE(page->heatCard().isHidden());
}

TEST_F(LivePageTest, ATileAndAChartLeadToTheirRules)
{
    LivePage* page = live("trl-v2-gap");
    for (int tile = 0; tile < KpiRow::TileCount; ++tile) {
        for (const RuleLink& link : rulesOfTile(tile))
            EXPECT_TRUE(window->actions().action(QStringLiteral("rule.") + link.rule)) << link.rule.toStdString();
    }
    const auto hasDensityHigh = [](const std::vector<RuleLink>& links) {
        return std::any_of(links.begin(), links.end(),
                           [](const RuleLink& link) { return link.rule == QStringLiteral("density-high"); });
    };
    EXPECT_TRUE(hasDensityHigh(rulesOfTile(KpiRow::DeltaSize)) && hasDensityHigh(rulesOfPlot(LivePage::DeltaSize)))
        << "it compares bytes";
    EXPECT_FALSE(hasDensityHigh(rulesOfTile(KpiRow::Changed)) || hasDensityHigh(rulesOfPlot(LivePage::Changed)));
    QAction* lag = nullptr;
    for (QMenu* menu : page->plot(LivePage::Lag).menu()->findChildren<QMenu*>()) {
        for (QAction* action : menu->actions()) {
            if (action->text().startsWith(QStringLiteral("a replica")))
                lag = action;
        }
    }
    ASSERT_TRUE(lag);
    lag->trigger();
    EXPECT_EQ(window->currentPage(), QStringLiteral("alerts"));
    const auto* threshold = qobject_cast<QDoubleSpinBox*>(window->focusWidget());
    ASSERT_TRUE(threshold);
    EXPECT_TRUE(threshold->accessibleName().contains(QStringLiteral("replica-lag")));
}

TEST_F(LivePageTest, OnlyTimesAreCutAtFirst)
{
    LivePage* page = live("trl-v2-gap");
    for (int i = 0; i < LivePage::PlotCount; ++i)
        EXPECT_EQ(page->plot(static_cast<LivePage::Plot>(i)).view()->cutsOutliers(),
                  i == LivePage::Pause || i == LivePage::Sync)
            << i;
}

TEST_F(LivePageTest, OneXAxisForAllCharts)
{
    LivePage* page = live("trl-v2-gap");
    emit page->plot(LivePage::Pause).xChosen(PlotX::SinceStart);
    EXPECT_EQ(page->plot(LivePage::Sync).view()->x(), PlotX::SinceStart);
    EXPECT_TRUE(page->plot(LivePage::Changed).view()->data().clock);
    emit page->plot(LivePage::Pause).xChosen(PlotX::Step);
}

TEST_F(LivePageTest, TheDemoShowsPausesPhasesAndReplicas)
{
    window->openDemo();
    auto* page = show<LivePage>("live");
    ASSERT_TRUE(waitFor([&] {
        return page->isUpToDate() && !page->shown()->replicas.empty() && !page->shown()->sync.steps.empty()
            && !page->plot(LivePage::Pause).view()->data().isEmpty();
    }));
    const LiveData& shown = *page->shown();
    EXPECT_EQ(page->replicas().model().rowCount(), static_cast<int>(shown.replicas.size()));
    EXPECT_FALSE(page->replicas().list()->isHidden());
    const PlotData& sync = page->plot(LivePage::Sync).view()->data();
    EXPECT_TRUE(sync.stacked);
    EXPECT_EQ(sync.series.front().token, Token::Pause) << "what produces no tokens is at the bottom";
    for (std::size_t i = 1; i < shown.replicas.size(); ++i)
        EXPECT_GE(shown.replicas[i - 1].replica.behind.value_or(0) + 1000 * shown.replicas[i - 1].replica.late,
                  shown.replicas[i].replica.behind.value_or(0) + 1000 * shown.replicas[i].replica.late)
            << "the worst first";
}

TEST_F(LivePageTest, TheSmallestWindowScrollsAndCutsNothing)
{
    window->resize(1024, 640);
    LivePage* page = live("trl-v2-gap");
    QTest::qWait(200);
    for (int i = 0; i < LivePage::PlotCount; ++i) {
        const PlotView* view = page->plot(static_cast<LivePage::Plot>(i)).view();
        EXPECT_GE(view->width(), 160);
        EXPECT_GE(view->height(), 92);
    }
    for (int i = 0; i < KpiRow::TileCount; ++i)
        EXPECT_GE(page->tiles().tile(static_cast<KpiRow::Tile>(i)).width(), 96);
}

}
} // namespace deltascope::desktop
