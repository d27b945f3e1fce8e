// The list of versions without a window: folding, lines, and what a new step changes.

#include "made_run.h"

#include "pages/lineage/lineage_model.h"
#include "pages/lineage/lineage_text.h"
#include "pages/lineage/lineage_tree.h"

#include <QAbstractItemModelTester>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

namespace deltascope::desktop {

namespace {

LineagePointer pictureOf(RunPointer run, const QString& filter = {})
{
    return std::make_shared<const LineagePicture>(std::move(run), std::vector<app::AlertView>(),
                                                  Query::parse(filter, lineageFields()));
}

QStringList stepsOf(const LineageModel& model)
{
    QStringList steps;
    for (int row = 0; row < model.rowCount(); ++row)
        steps.append(model.index(row, LineageModel::Step).data().toString());
    return steps;
}

class LineageModelTest : public ::testing::Test {
protected:
    void show(const LineagePointer& picture, std::optional<StepId> b = {}) { model.show(picture, {}, b); }

    LineageModel model;
    QAbstractItemModelTester tester { &model, QAbstractItemModelTester::FailureReportingMode::Fatal };
};

TEST_F(LineageModelTest, SoundChainsFoldAndTheNewestIsOpen)
{
    show(pictureOf(MadeRun { 0, 32 }.snapshot()));
    EXPECT_EQ(stepsOf(model),
              (QStringList { "32", "31", "30", QStringLiteral("20 – 29"), QStringLiteral("10 – 19"),
                             QStringLiteral("0 – 9") }));
    const QModelIndex fold = model.index(3, LineageModel::Kind);
    EXPECT_EQ(fold.data().toString(), "chain of 20, 10 versions");
    EXPECT_EQ(model.index(3, LineageModel::Verified).data().toString(), "all level 3");
    EXPECT_EQ(model.index(3, LineageModel::Bytes).data().toString(), "1.09 MB");
}

TEST_F(LineageModelTest, ChainsOfAAndBAreOpenAndCloseAgain)
{
    const LineagePointer picture = pictureOf(MadeRun { 0, 32 }.snapshot());
    model.show(picture, StepId { 0, 5 }, StepId { 0, 17 });
    EXPECT_TRUE(stepsOf(model).contains("17"));
    EXPECT_TRUE(stepsOf(model).contains("5"));
    EXPECT_TRUE(stepsOf(model).contains(QStringLiteral("20 – 29")));
    model.setMarks({}, StepId { 0, 32 });
    EXPECT_EQ(model.rowCount(), 6);
}

TEST_F(LineageModelTest, WhatIsNotSoundIsNeverFoldedAway)
{
    MadeRun made { 0, 32 };
    std::vector<app::EpochView> epochs { made.epoch() };
    epochs[0].steps[14].state = "broken";
    show(pictureOf(made.snapshot(epochs)));
    EXPECT_TRUE(stepsOf(model).contains("14"));

    auto damaged = made.snapshot();
    damaged->verified[{ 0, 25 }] = { 2, "damaged", 4'000'000'000'000'000 };
    show(pictureOf(damaged));
    EXPECT_TRUE(stepsOf(model).contains("25"));
}

TEST_F(LineageModelTest, FoldingByHandLastsOverNewSteps)
{
    show(pictureOf(MadeRun { 0, 32 }.snapshot()));
    model.setOpen(1, true); // 20 - 29
    model.setOpen(0, false); // 30 - 32
    EXPECT_EQ(stepsOf(model).front(), QStringLiteral("30 – 32"));
    show(pictureOf(MadeRun { 0, 33 }.snapshot()));
    EXPECT_EQ(stepsOf(model).front(), QStringLiteral("30 – 33"));
    EXPECT_TRUE(stepsOf(model).contains("29"));
}

TEST_F(LineageModelTest, ANewStepIsOneNewRow)
{
    show(pictureOf(MadeRun { 0, 32 }.snapshot()));
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QSignalSpy come(&model, &QAbstractItemModel::rowsInserted);
    QSignalSpy gone(&model, &QAbstractItemModel::rowsRemoved);
    const QPersistentModelIndex step30 = model.index(2, 0);
    show(pictureOf(MadeRun { 0, 33 }.snapshot()));
    EXPECT_EQ(reset.count(), 0);
    EXPECT_EQ(gone.count(), 0);
    ASSERT_EQ(come.count(), 1);
    EXPECT_EQ(come[0][1].toInt(), 0);
    EXPECT_EQ(come[0][2].toInt(), 0);
    EXPECT_EQ(step30.row(), 3);
    EXPECT_EQ(step30.sibling(step30.row(), LineageModel::Step).data().toString(), "30");
}

TEST_F(LineageModelTest, ANewAnchorFoldsTheChainBeforeIt)
{
    show(pictureOf(MadeRun { 0, 39 }.snapshot()));
    EXPECT_EQ(model.rowCount(), 13);
    show(pictureOf(MadeRun { 0, 40 }.snapshot()));
    EXPECT_EQ(stepsOf(model).mid(0, 2), (QStringList { "40", QStringLiteral("30 – 39") }));
    EXPECT_EQ(model.rowCount(), 5);
}

/// A run in which 8 can also be had on 2 and whole, and 9 on a damaged way from 1.
RunPointer runOfSeveralWays()
{
    const MadeRun made { 0, 12, 100 };
    std::vector<app::EpochView> epochs { made.epoch() };
    const auto form = [](const app::StepView& step, std::optional<std::int64_t> base, bool isUsed) {
        app::FormView view;
        view.kind = base ? "delta" : "anchor";
        view.baseStep = base;
        view.isUsed = isUsed;
        view.restore = step.restore;
        return view;
    };
    app::StepView& eight = epochs[0].steps[8];
    eight.forms = { form(eight, 7, true), form(eight, 2, false), form(eight, {}, false) };
    app::StepView& nine = epochs[0].steps[9];
    nine.forms = { form(nine, 8, true), form(nine, 1, false) };
    nine.forms[1].restore.reason = "its object is gone";
    app::StepView& copied = epochs[0].steps[5];
    copied.forms = { form(copied, 4, true), form(copied, 4, false) };
    copied.forms[1].isCopy = true;
    return made.snapshot(epochs);
}

TEST_F(LineageModelTest, OtherWaysAreBracketsToWhatTheyBuildOn)
{
    show(pictureOf(runOfSeveralWays()));
    ASSERT_EQ(model.rowCount(), 13);
    const auto& brackets = model.brackets();
    const auto item = [](int step) { return static_cast<std::size_t>(12 - step); };
    EXPECT_TRUE(brackets.usable(item(8)).diamond);
    const std::uint32_t way = brackets.usable(item(8)).begins;
    EXPECT_NE(way, 0U);
    for (int step = 12; step >= 0; --step) {
        const auto& strokes = brackets.usable(item(step));
        EXPECT_EQ(strokes.begins, step == 8 ? way : 0U) << step;
        EXPECT_EQ(strokes.ends, step == 2 ? way : 0U) << step;
        EXPECT_EQ(strokes.above, step < 8 && step >= 2 ? way : 0U) << step;
        EXPECT_EQ(strokes.below, step <= 8 && step > 2 ? way : 0U) << step;
        EXPECT_EQ(strokes.diamond, step == 8) << step;
    }
    EXPECT_NE(brackets.broken(item(9)).begins, 0U);
    EXPECT_EQ(brackets.broken(item(9)).begins, brackets.broken(item(1)).ends);
    EXPECT_TRUE(brackets.broken(item(12)).isEmpty());
}

TEST_F(LineageModelTest, AFoldHidesTheWaysInsideItself)
{
    show(pictureOf(runOfSeveralWays()));
    model.setOpen(0, false);
    ASSERT_EQ(model.rowCount(), 1);
    EXPECT_TRUE(model.brackets().usable(0).isEmpty());
    EXPECT_TRUE(model.brackets().broken(0).isEmpty());
}

TEST_F(LineageModelTest, ReplayPathOfBGoesDownToItsAnchor)
{
    show(pictureOf(MadeRun { 0, 32 }.snapshot()), StepId { 0, 32 });
    ASSERT_EQ(model.path().nodes.size(), 3U);
    EXPECT_EQ(model.path().nodes.front().item, 0U);
    EXPECT_EQ(model.path().nodes.back().item, 2U);
    EXPECT_EQ(model.path().above(0), std::nullopt);
    EXPECT_EQ(model.path().below(0), 0);
    EXPECT_EQ(model.path().above(2), 0);
    EXPECT_EQ(model.path().below(2), std::nullopt);
    // Lines run from each delta to its base and end at the anchor.
    EXPECT_EQ(model.lines().below(0).solid, 1);
    EXPECT_EQ(model.lines().above(2).solid, 1);
    EXPECT_EQ(model.lines().below(2).solid, 0);
}

TEST_F(LineageModelTest, EpochsAreSeparatedByARestartAndHaveLanes)
{
    MadeRun made;
    std::vector<app::EpochView> epochs { MadeRun { 0, 14 }.epoch(0), MadeRun { 12, 22 }.epoch(1) };
    for (std::size_t at = 12; at < 15; ++at) {
        epochs[0].steps[at].restorable = false;
        epochs[0].steps[at].restore.reason = "its bytes were overwritten";
    }
    show(pictureOf(made.snapshot(epochs)));
    model.setAllOpen(true);
    int restart = -1;
    for (int row = 0; row < model.rowCount(); ++row) {
        if (model.item(row).kind == LineageItem::Kind::Restart)
            restart = row;
    }
    ASSERT_GT(restart, 0);
    EXPECT_TRUE(model.index(restart, LineageModel::Step).data().toString().startsWith("Trainer restarted, epoch 1"));
    const LineageItem& below = model.item(restart + 1);
    EXPECT_EQ(model.picture()->rows()[below.row].lane, 1);
    EXPECT_EQ(model.index(restart + 1, LineageModel::Step).data().toString(), QStringLiteral("14′"));
    EXPECT_EQ(model.index(restart + 1, LineageModel::Restore).data().toString(), "not possible: overwritten");
    EXPECT_EQ(model.lines().below(static_cast<std::size_t>(restart + 1)).dashed, 2) << "lane 1, dashed";
}

TEST_F(LineageModelTest, AFilterShowsRowsWithoutFolding)
{
    show(pictureOf(MadeRun { 0, 32 }.snapshot(), "kind:anchor"));
    EXPECT_EQ(stepsOf(model), (QStringList { "30", "20", "10", "0" }));
    show(pictureOf(MadeRun { 0, 32 }.snapshot(), "step:8..11 kind:delta"));
    EXPECT_EQ(stepsOf(model), (QStringList { "11", "9", "8" }));
    show(pictureOf(MadeRun { 0, 32 }.snapshot(), "verify:<3"));
    EXPECT_EQ(model.rowCount(), 0);
    MadeRun unchecked { 0, 2 };
    unchecked.verifiedLevel = 0;
    show(pictureOf(unchecked.snapshot(), "verify:<3"));
    EXPECT_EQ(model.rowCount(), 3) << "what was never checked is below every level";
}

TEST_F(LineageModelTest, ExportedRowsHaveAllFields)
{
    const LineagePointer picture = pictureOf(MadeRun { 0, 2 }.snapshot());
    const QList<QByteArray> lines = lineageCsv(*picture, { 0 }).trimmed().split('\n');
    ASSERT_EQ(lines.size(), 2);
    EXPECT_EQ(lines[0].count(','), lines[1].count(','));
    EXPECT_TRUE(lines[1].startsWith("0,2,,delta,complete,1,")) << lines[1].constData();
    EXPECT_EQ(versionAddress(*picture, 0), "file:///made@0:2");
}

TEST(LineageTreeTest, ScrollAndSelectionSurviveNewSteps)
{
    LineageTree tree;
    tree.resize(1000, 400);
    tree.show();
    MadeRun made { 0, 399, 400 };
    tree.showPicture(pictureOf(made.snapshot()), {}, StepId { 0, 399 });
    tree.verticalScrollBar()->setValue(1000);
    const QModelIndex first = tree.indexAt(QPoint(200, 1));
    const QString shown = first.siblingAtColumn(LineageModel::Step).data().toString();
    const int y = tree.visualRect(first).top();
    tree.selectionModel()->select(first, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    tree.selectionModel()->select(first.siblingAtRow(first.row() + 2),
                                  QItemSelectionModel::Select | QItemSelectionModel::Rows);
    const std::vector<std::size_t> selected = tree.selectedRows();
    ASSERT_EQ(selected.size(), 2U);

    made.last = 401;
    tree.showPicture(pictureOf(made.snapshot()), {}, StepId { 0, 401 });
    const QModelIndex now = tree.indexAt(QPoint(200, 1));
    EXPECT_EQ(now.siblingAtColumn(LineageModel::Step).data().toString(), shown);
    EXPECT_EQ(tree.visualRect(now).top(), y);
    ASSERT_EQ(tree.selectedRows().size(), 2U);
    EXPECT_EQ(tree.selectedRows()[0], selected[0] + 2) << "the same step, two rows further down";

    tree.verticalScrollBar()->setValue(0);
    made.last = 402;
    tree.showPicture(pictureOf(made.snapshot()), {}, StepId { 0, 402 });
    EXPECT_EQ(tree.verticalScrollBar()->value(), 0) << "at the top new steps come into sight";
    EXPECT_EQ(tree.indexAt(QPoint(200, 1)).siblingAtColumn(LineageModel::Step).data().toString(), "402");
}

TEST(LineageTreeTest, OtherWaysArePaintedInTheColumnOfChains)
{
    LineageTree tree;
    tree.resize(1000, 440);
    tree.show();
    const auto chains = [&](RunPointer run) {
        tree.showPicture(pictureOf(std::move(run)), {}, {});
        return tree.viewport()->grab({ 0, 0, tree.columnWidth(LineageModel::Chain), 440 }).toImage();
    };
    const QImage one = chains(MadeRun { 0, 12, 100 }.snapshot());
    const QImage several = chains(runOfSeveralWays());
    EXPECT_NE(one, several);
    EXPECT_EQ(one, chains(MadeRun { 0, 12, 100 }.snapshot()));
}

TEST(LineageTreeTest, FollowingBDoesNotScrollTheListAway)
{
    LineageTree tree;
    tree.resize(1000, 400);
    tree.show();
    MadeRun made { 0, 399, 400 };
    tree.showPicture(pictureOf(made.snapshot()), {}, StepId { 0, 399 });
    tree.verticalScrollBar()->setValue(2000);
    made.last = 400;
    tree.showPicture(pictureOf(made.snapshot()), {}, StepId { 0, 399 });
    tree.setMarks({}, StepId { 0, 400 }, false);
    EXPECT_EQ(tree.lineage().versionOf(tree.currentIndex()), (StepId { 0, 400 }));
    EXPECT_EQ(tree.verticalScrollBar()->value(), 2000 + tree.visualRect(tree.currentIndex()).height());
    tree.setMarks({}, StepId { 0, 390 }, true);
    EXPECT_LT(tree.verticalScrollBar()->value(), 400) << "where the user goes is shown";
}

TEST(LineageTreeTest, TheSelectionFollowsB)
{
    LineageTree tree;
    tree.resize(1000, 400);
    tree.show();
    tree.showPicture(pictureOf(MadeRun { 0, 32 }.snapshot()), {}, StepId { 0, 32 });
    tree.showPicture(pictureOf(MadeRun { 0, 33 }.snapshot()), {}, StepId { 0, 33 });
    EXPECT_EQ(tree.lineage().versionOf(tree.currentIndex()), (StepId { 0, 33 }));
    tree.setMarks({}, StepId { 0, 11 }, true);
    EXPECT_EQ(tree.lineage().versionOf(tree.currentIndex()), (StepId { 0, 11 }));
    EXPECT_TRUE(tree.viewport()->rect().contains(tree.visualRect(tree.currentIndex()).center()));
}

TEST(LineageTreeTest, AFoldOpensByClickAndByKey)
{
    LineageTree tree;
    tree.resize(1000, 600);
    tree.show();
    tree.showPicture(pictureOf(MadeRun { 0, 32 }.snapshot()), {}, StepId { 0, 32 });
    QSignalSpy chose(&tree, &LineageTree::chose);
    const QRect fold = tree.visualRect(tree.lineage().index(3, LineageModel::Kind));
    QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, fold.center());
    EXPECT_TRUE(stepsOf(tree.lineage()).contains("25"));
    EXPECT_EQ(chose.count(), 0) << "a fold is no version";
    QTest::keyClick(&tree, Qt::Key_Left);
    EXPECT_FALSE(stepsOf(tree.lineage()).contains("25"));
    QTest::keyClick(&tree, Qt::Key_Return);
    EXPECT_TRUE(stepsOf(tree.lineage()).contains("25"));
}

}

} // namespace deltascope::desktop
