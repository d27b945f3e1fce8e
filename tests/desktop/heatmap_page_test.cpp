#include "pages/heatmap/heatmap_page.h"

#include "desktop_fixture.h"
#include "heat/heat_layout.h"
#include "heat/heat_scale.h"
#include "heat/row_spark.h"
#include "look/format.h"
#include "made_heat.h"
#include "pages/heatmap/block_view.h"
#include "pages/heatmap/element_view.h"
#include "pages/heatmap/heat_tools.h"

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QTableView>
#include <QUndoStack>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

// The page Heatmap over real buckets: what its cells say, its keys, and the way down to single elements.

namespace deltascope::desktop {
namespace {

class HeatmapPageTest : public DesktopFixture {
protected:
    HeatmapPage* openPage(const std::string& bucket)
    {
        const app::SourceRequest source = golden(bucket);
        setTimes(bucket, source.source.text());
        window->openSource(source);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled && run->heat;
        })) << bucket;
        window->activateWindow();
        EXPECT_TRUE(QTest::qWaitForWindowActive(window.get()));
        auto* page = show<HeatmapPage>("heatmap");
        EXPECT_TRUE(waitFor([&] {
            const HeatPlanPointer& plan = page->heat()->model().plan();
            return plan && plan->heat == window->focus().run()->heat;
        })) << bucket;
        EXPECT_TRUE(waitFor([&] { return !page->heat()->isLoading(); })) << bucket;
        page->heat()->setFocus();
        return page;
    }
    /// As the writers left them; what is fresh and incomplete would count as on its way.
    static void setTimes(const std::string& bucket, const std::string& folder)
    {
        namespace fs = std::filesystem;
        nlohmann::json times;
        if (std::ifstream file(std::string(DELTASCOPE_GOLDEN_DIR "/") + bucket + "/mtimes.json"); file)
            times = nlohmann::json::parse(file);
        const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(24);
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            const std::string key = fs::relative(entry.path(), folder).string();
            if (!entry.is_regular_file())
                continue;
            fs::last_write_time(entry.path(),
                                times.contains(key) ? std::chrono::file_clock::from_sys(
                                    std::chrono::sys_seconds(std::chrono::seconds(times[key].get<std::int64_t>())))
                                                    : longAgo);
        }
    }
    static const HeatModel& model(HeatmapPage* page) { return page->heat()->model(); }
    static std::int64_t stepAt(HeatmapPage* page, int column) { return model(page).plan()->column(column).step; }
};

nlohmann::json expectedOf(const std::string& bucket)
{
    std::ifstream file(std::string(DELTASCOPE_GOLDEN_DIR "/") + bucket + "/expected.json");
    return nlohmann::json::parse(file);
}

TEST_F(HeatmapPageTest, ExactCountsOfAColumnAddUpToWhatTheTrainerChanged)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    ExactCounts counts(session->service());
    const HeatPlanPointer plan = model(page).plan();
    ASSERT_EQ(plan->rows(), 13);
    const nlohmann::json expected = expectedOf("trl-v2-raw");
    for (const nlohmann::json& step : expected["steps"]) {
        if (step["kind"] != "delta")
            continue;
        const int column = plan->columnOf({ 0, step["step"].get<std::int64_t>() });
        ASSERT_GE(column, 0);
        ASSERT_TRUE(waitFor([&] { return counts.changed(plan, 0, column).has_value(); }));
        std::uint64_t sum = 0;
        for (int row = 0; row < plan->rows(); ++row) {
            const std::uint64_t changed = *counts.changed(plan, row, column);
            EXPECT_EQ(plan->code(row, column), app::heatCode(changed, plan->tensor(row).elements));
            sum += changed;
        }
        EXPECT_EQ(sum, step["changed_elems"].get<std::uint64_t>()) << step["step"];
    }
}

TEST_F(HeatmapPageTest, ArrowsMoveTheCellAndTheTableFollows)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    HeatCanvas* heat = page->heat();
    QTest::keyClick(heat, Qt::Key_Home);
    ASSERT_TRUE(model(page).cursor());
    EXPECT_EQ(model(page).cursor()->column, 0);
    QTest::keyClick(heat, Qt::Key_Right);
    QTest::keyClick(heat, Qt::Key_Down);
    EXPECT_EQ(model(page).cursor()->column, 1);
    EXPECT_EQ(heat->stepAtCursor(), (StepId { 0, 2 }));
    ASSERT_TRUE(waitFor([&] { return heat->currentCell().isValid(); }));
    const QModelIndex cell = heat->currentCell();
    EXPECT_EQ(heat->table()->headerData(cell.column(), Qt::Horizontal).toString(), QStringLiteral("step 2"));
    const int row = model(page).tensorAt(*model(page).cursor());
    EXPECT_EQ(heat->table()->headerData(cell.row(), Qt::Vertical).toString().toStdString(),
              model(page).plan()->tensor(row).name);
    EXPECT_EQ(cell.data().toString(), shareText(app::heatShare(*model(page).plan()->code(row, 1))));
    EXPECT_TRUE(heat->accessibleDescription().contains(QStringLiteral("step 2")))
        << heat->accessibleDescription().toStdString();
}

TEST_F(HeatmapPageTest, DigitsSetAAndBAtTheCell)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    QTest::keyClick(page->heat(), Qt::Key_Home);
    QTest::keyClick(page->heat(), Qt::Key_Right);
    QTest::keyClick(page->heat(), Qt::Key_1);
    EXPECT_EQ(window->cursor().a(), (StepId { 0, 2 }));
    QTest::keyClick(page->heat(), Qt::Key_Right);
    QTest::keyClick(page->heat(), Qt::Key_2);
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 3 }));
    EXPECT_FALSE(window->cursor().state().follow);
    EXPECT_EQ(page->heat()->marks().a, model(page).plan()->columnOf({ 0, 2 }));
    EXPECT_EQ(page->heat()->marks().b, model(page).plan()->columnOf({ 0, 3 }));
}

TEST_F(HeatmapPageTest, AClickSetsBAndTheTensor)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const int column = model(page).plan()->columnOf({ 0, 5 });
    ASSERT_TRUE(model(page).rows().size() >= 3);
    const QRectF cell = model(page).rectOf({ 0, 0, column });
    const HeatLayout at = HeatLayout::of(page->heat()->size());
    QTest::mouseClick(page->heat(), Qt::LeftButton, {}, (cell.center() + at.plot.topLeft()).toPoint());
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 5 }));
    EXPECT_EQ(window->cursor().state().tensor, "model.embed_tokens.weight");
}

TEST_F(HeatmapPageTest, EnterOpensBlocksThenElementsAndBackspaceGoesUp)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    page->heat()->placeTensor("model.layers.0.mlp.down_proj.weight", model(page).plan()->columnOf({ 0, 5 }));
    QTest::keyClick(page->heat(), Qt::Key_Return);
    ASSERT_EQ(page->level(), HeatmapPage::Level::Blocks);
    ASSERT_TRUE(waitFor([&] { return page->blocks()->blocks() != nullptr; }));
    const app::BlocksView& blocks = *page->blocks()->blocks();
    EXPECT_EQ(blocks.tensor, "model.layers.0.mlp.down_proj.weight");
    EXPECT_EQ(blocks.rows, 32U);
    EXPECT_EQ(blocks.cols, 64U);
    EXPECT_EQ(blocks.changed, 74U) << "what the trainer changed at step 5";
    EXPECT_EQ(page->canvas(), page->blocks()->canvas());
    QTest::keyClick(page->blocks()->canvas(), Qt::Key_Return);
    ASSERT_EQ(page->level(), HeatmapPage::Level::Elements);
    const ElementModel& elements = page->elements()->model();
    ASSERT_TRUE(waitFor([&] { return elements.elements() != nullptr; }));
    EXPECT_EQ(elements.elementCount(), 32 * 64);
    EXPECT_EQ(elements.changedCount(), 74);
    EXPECT_EQ(elements.elements()->step, 5);
    EXPECT_EQ(elements.elements()->a, 4);
    page->elements()->model().setOnlyChanged(true);
    EXPECT_EQ(elements.rowCount(), 74);
    EXPECT_EQ(elements.asTsv().count(QLatin1Char('\n')), 75);
    QTest::keyClick(page->elements()->canvas(), Qt::Key_Backspace);
    EXPECT_EQ(page->level(), HeatmapPage::Level::Blocks);
    QTest::keyClick(page->blocks()->canvas(), Qt::Key_Backspace);
    EXPECT_EQ(page->level(), HeatmapPage::Level::Heat);
}

TEST_F(HeatmapPageTest, BlocksFollowTheStepAndCompareWithA)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    page->heat()->placeTensor("model.layers.0.mlp.down_proj.weight", model(page).plan()->columnOf({ 0, 5 }));
    QTest::keyClick(page->heat(), Qt::Key_Return);
    const auto shown = [&](std::int64_t a, std::uint64_t changed) {
        return waitFor([&] {
            const BlocksPointer& blocks = page->blocks()->blocks();
            return blocks && blocks->a == a && blocks->changed == changed;
        });
    };
    EXPECT_TRUE(shown(4, 74));
    QTest::keyClick(page->blocks()->canvas(), Qt::Key_Period);
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 6 }));
    EXPECT_TRUE(shown(5, 57));
    window->cursor().setA(StepId { 0, 6 });
    for (QPushButton* button : page->blocks()->findChildren<QPushButton*>()) {
        if (button->isCheckable())
            button->click();
    }
    EXPECT_TRUE(shown(6, 0)) << "a step does not differ from itself";
}

TEST_F(HeatmapPageTest, AFilterIsUndone)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const std::size_t all = model(page).rows().size();
    page->filterField()->setText(QStringLiteral("q_proj"));
    EXPECT_TRUE(waitFor([&] { return model(page).rows().size() == 1; }));
    EXPECT_EQ(model(page).plan()->tensor(model(page).rows()[0].first).name, "model.layers.0.self_attn.q_proj.weight");
    window->actions().trigger(QStringLiteral("view.undo"));
    EXPECT_TRUE(waitFor([&] { return model(page).rows().size() == all; }));
    EXPECT_EQ(page->filterField()->text(), QString());
    page->filterField()->setText(QStringLiteral("/(/"));
    EXPECT_EQ(page->filterField()->property("state").toString(), QStringLiteral("invalid"));
    EXPECT_EQ(model(page).rows().size(), all) << "what is not understood hides nothing";
}

TEST_F(HeatmapPageTest, ZoomIsUndone)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const HeatZoom before = model(page).zoom();
    QTest::keyClick(page->heat(), Qt::Key_E);
    EXPECT_NE(model(page).zoom(), before);
    window->actions().trigger(QStringLiteral("view.undo"));
    EXPECT_EQ(model(page).zoom(), before);
}

TEST_F(HeatmapPageTest, MergedCellsOfAnOpenLayerAreItsHighest)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    page->heat()->setAllOpen(true);
    HeatScale::shared().setPool(app::HeatPool::Max);
    for (std::size_t row = 0; row < model(page).rows().size(); ++row) {
        const ViewRow& view = model(page).rows()[row];
        if (view.kind != ViewRow::Kind::Head)
            continue;
        std::uint8_t most = 0;
        for (int tensor = view.first; tensor < view.first + view.count; ++tensor)
            most = std::max(most, *model(page).plan()->code(tensor, 3));
        EXPECT_EQ(model(page).codeAt({ static_cast<int>(row), 0, 3 }, app::HeatPool::Max), most);
    }
}

TEST_F(HeatmapPageTest, WhatIsMissingIsUnknownAndWhatIsBrokenIsMarked)
{
    HeatmapPage* page = openPage("trl-v2-truncated");
    const HeatPlanPointer& plan = model(page).plan();
    const int column = plan->columnOf({ 0, 13 });
    ASSERT_GE(column, 0);
    EXPECT_EQ(plan->code(0, column), std::nullopt) << "a delta that cannot be read changed nobody knows what";
    EXPECT_TRUE(plan->lanes[static_cast<std::size_t>(column)].damaged);
    page->heat()->placeTensor(plan->tensor(0).name, column);
    EXPECT_TRUE(page->heat()->accessibleDescription().contains(QStringLiteral("not known")));
    ASSERT_TRUE(waitFor([&] { return page->heat()->currentCell().isValid(); }));
    EXPECT_EQ(page->heat()->currentCell().data().toString(), unknownText());
}

TEST_F(HeatmapPageTest, AnEpochThatRestartedHasItsOwnColumns)
{
    HeatmapPage* page = openPage("trl-v2-restart");
    const HeatPlanPointer plan = model(page).plan();
    EXPECT_EQ(plan->epoch, window->focus().epoch()->epoch);
    EXPECT_GT(window->focus().run()->run->epochs.size(), 1U);
    const app::EpochView& first = window->focus().run()->run->epochs.front();
    window->cursor().setB({ first.epoch, first.steps.back().step });
    EXPECT_TRUE(waitFor([&] { return model(page).plan()->epoch == first.epoch; }));
    EXPECT_GE(page->heat()->marks().b, 0);
}

TEST_F(HeatmapPageTest, ExportHasALinePerTensorAndNoZeroForWhatIsUnknown)
{
    HeatmapPage* page = openPage("trl-v2-truncated");
    EXPECT_TRUE(page->exportName().endsWith(QStringLiteral("-heatmap.csv")));
    const QList<QByteArray> lines = page->exportText().split('\n');
    EXPECT_EQ(lines.size(), 13 + 2);
    const QList<QByteArray> names = lines[0].split(',');
    const auto at = names.indexOf("changed_frac_13");
    ASSERT_GT(at, 0);
    EXPECT_EQ(lines[1].split(',')[at], QByteArray());
    EXPECT_NE(lines[1].split(',')[2], QByteArray());
}

TEST_F(HeatmapPageTest, RMakesTheSelectionTheRangeOfAllPages)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const HeatPlanPointer plan = page->heat()->model().plan();
    const StepId a = plan->stepOf(1);
    const StepId b = plan->stepOf(plan->columns - 1);
    window->cursor().setB(b);
    window->cursor().setA(a);
    QTest::keyClick(page->heat(), Qt::Key_R);
    EXPECT_EQ(window->cursor().state().range, (StepRange { a.step, b.step }));
    window->cursor().setA(std::nullopt);
    QTest::keyClick(page->heat(), Qt::Key_F);
    QTest::keyClick(page->heat(), Qt::Key_R);
    EXPECT_EQ(window->cursor().state().range->second, b.step) << "without A what is in view";
}

TEST_F(HeatmapPageTest, SpaceHolds)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const bool follows = window->cursor().state().follow;
    QTest::keyClick(page->heat(), Qt::Key_Space);
    EXPECT_EQ(window->cursor().state().follow, !follows);
}

TEST(HeatCanvas, SpaceAndADragPanAndAreNoTap)
{
    MadeHeat made;
    made.steps = 2000;
    HeatCanvas canvas;
    canvas.resize(800, 500);
    canvas.setPlan(makeHeatPlan(MadeHeat::snapshot(made.view()), 0, {}, {}, nullptr), false);
    canvas.showSteps({ 500, 600 });
    QSignalSpy tapped(&canvas, &HeatCanvas::spaceTapped);
    const double before = canvas.model().axis().first;
    const QPoint from = canvas.rect().center();
    QTest::keyPress(&canvas, Qt::Key_Space);
    QTest::mousePress(&canvas, Qt::LeftButton, {}, from);
    QTest::mouseMove(&canvas, from + QPoint(60, 0));
    QTest::mouseRelease(&canvas, Qt::LeftButton, {}, from + QPoint(60, 0));
    QTest::keyRelease(&canvas, Qt::Key_Space);
    EXPECT_LT(canvas.model().axis().first, before);
    EXPECT_TRUE(tapped.empty());
    QTest::keyClick(&canvas, Qt::Key_Space);
    EXPECT_EQ(tapped.size(), 1);
}

TEST(HeatCanvas, ThePastOfARowStaysWhileStepsCome)
{
    const auto heat = MadeHeat().view();
    HeatCanvas canvas;
    canvas.resize(800, 500);
    canvas.show();
    canvas.setPlan(makeHeatPlan(MadeHeat::snapshot(heat), 0, {}, {}, nullptr), true);
    const QRect gutter = HeatLayout::of(canvas.size()).gutter;
    const QRect beside(gutter.left() - 150, gutter.top() + 1, 120, 8);
    const QImage plain = canvas.grab(beside).toImage();
    const auto moveTo = [&](const QPoint& at) {
        QMouseEvent moved(QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&canvas, &moved);
    };
    moveTo({ gutter.center().x(), gutter.top() + 3 });
    EXPECT_NE(canvas.grab(beside).toImage(), plain);
    const HeatPlanPointer before = canvas.model().plan();
    canvas.setPlan(makeHeatPlan(MadeHeat::snapshot(MadeHeat::grown(*heat, 3)), 0, {}, {}, before), true);
    const QImage with = canvas.grab(beside).toImage();
    moveTo(canvas.rect().topLeft());
    EXPECT_NE(canvas.grab(beside).toImage(), with) << "until the mouse goes elsewhere";
}

TEST_F(HeatmapPageTest, ABoxIsExportedWithItsCellsAlone)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const QList<QByteArray> lines = page->csvOf(1, 3, 0, page->heat()->model().endOfSeenRows()).split('\n');
    EXPECT_EQ(lines.front().count(','), 2);
    EXPECT_GT(lines.size(), 2);
    EXPECT_EQ(lines.at(1).count(','), 2);
}

TEST_F(HeatmapPageTest, AMeanInTheGutterShowsThePastOfItsRow)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    const HeatModel& model = page->heat()->model();
    const RowSpark spark = makeRowSpark(model, 0, app::HeatPool::Max);
    double most = 0;
    for (int column = 0; column < model.plan()->columns; ++column) {
        for (int line = 0; line < model.rows()[0].lines(); ++line)
            most = std::max(most, app::heatShare(model.codeAt({ 0, line, column }, app::HeatPool::Max).value_or(0)));
    }
    EXPECT_EQ(spark.most, most);
    EXPECT_GT(most, 0);
    const QRect gutter = HeatLayout::of(page->heat()->size()).gutter;
    EXPECT_FALSE(sparkBox(gutter, model, spark).intersects(gutter));
    const QImage before = page->heat()->grab().toImage();
    QTest::mouseMove(page->heat(), { gutter.center().x(), gutter.top() + 3 });
    EXPECT_NE(page->heat()->grab().toImage(), before);
}

TEST_F(HeatmapPageTest, EverythingThatTakesTheFocusHasAName)
{
    HeatmapPage* page = openPage("trl-v2-raw");
    for (const QWidget* widget : page->findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || widget->inherits("QAbstractScrollArea"))
            continue;
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty())
            || widget->objectName().startsWith(QStringLiteral("qt_"));
        EXPECT_TRUE(named || !widget->isVisible()) << widget->metaObject()->className();
    }
}

}
} // namespace deltascope::desktop
