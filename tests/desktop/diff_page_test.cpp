#include "desktop_fixture.h"

#include "deltascope/app/view/touched_view.h"
#include "look/format.h"
#include "pages/diff/diff_choice.h"
#include "pages/diff/diff_offer.h"
#include "pages/diff/diff_page.h"
#include "pages/diff/diff_result.h"
#include "pages/diff/diff_tensors.h"
#include "pages/heatmap/block_view.h"
#include "widgets/filter_field.h"

#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <QUndoStack>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {
namespace {

class DiffPageTest : public DesktopFixture {
protected:
    DiffPage* diff(const std::string& bucket, std::int64_t a, std::int64_t b)
    {
        open(bucket);
        window->cursor().setB({ 0, b });
        window->cursor().setA(StepId { 0, a });
        return show<DiffPage>("diff");
    }
    /// Compares bit by bit and waits for the end.
    bool compare(DiffPage* page)
    {
        page->setMode(DiffPage::Different);
        if (!waitFor([&] { return page->task().state() == DiffTask::State::Ready; }))
            return false;
        page->offer().startButton()->click();
        return waitFor(
            [&] { return page->task().state() == DiffTask::State::Done && page->shown() != &page->offer(); });
    }
    /// The same comparison by the engine, without the page.
    DiffPointer truth(std::int64_t a, std::int64_t b)
    {
        const auto source = session->monitor().sourceOf(window->focus().id().toStdString());
        DiffPointer found;
        session->bridge().ask(
            window.get(),
            [&](app::Service& service) {
                return service.diff({ *source, "0:" + std::to_string(a) }, { *source, "0:" + std::to_string(b) });
            },
            [&](const Result<app::JobResult>& result) {
                if (result)
                    found = std::get<DiffPointer>(*result);
            });
        EXPECT_TRUE(waitFor([&] { return found != nullptr; }));
        return found;
    }
    static QString cell(QTableView& table, const QString& tensor, const QString& column)
    {
        QAbstractItemModel* model = table.model();
        for (int row = 0; row < model->rowCount(); ++row) {
            if (model->index(row, 0).data().toString() != tensor)
                continue;
            for (int at = 0; at < model->columnCount(); ++at) {
                if (model->headerData(at, Qt::Horizontal).toString() == column)
                    return model->index(row, at).data().toString();
            }
        }
        return QStringLiteral("no such cell");
    }
    static KpiTile::Content tile(DiffPage* page, const QString& label)
    {
        for (const KpiTile::Content& content : page->result().tiles()) {
            if (content.label == label)
                return content;
        }
        return {};
    }
};

TEST_F(DiffPageTest, WithoutAItAsksForOne)
{
    open("trl-v2-gap");
    window->cursor().setB({ 0, 13 });
    auto* page = show<DiffPage>("diff");
    ASSERT_TRUE(qobject_cast<DiffChoice*>(page->shown()));
    const auto offered = page->shown()->findChildren<QPushButton*>();
    ASSERT_EQ(offered.size(), 3);
    EXPECT_EQ(offered[0]->text(), "Set A to the step before, 12");
    EXPECT_EQ(offered[1]->text(), "Set A to the anchor before, 10");
    EXPECT_EQ(offered[2]->text(), "Set A to the first step, 1");
    offered[0]->click();
    ASSERT_TRUE(window->cursor().a());
    EXPECT_EQ(window->cursor().a()->step, 12);
}

TEST_F(DiffPageTest, TouchedAddsUpTheDeltas)
{
    DiffPage* page = diff("trl-v2-gap", 11, 13);
    ASSERT_TRUE(waitFor([&] { return page->shown() == &page->result(); }));
    const auto sums =
        app::makeTouchedView(session->service(), *window->focus().run(), *window->focus().a(), *window->focus().b());
    ASSERT_TRUE(sums);
    EXPECT_EQ(sums->elementsAtMost, 724U + 709U) << "what the deltas 12 and 13 hold";
    QTableView& table = page->result().tensors().table();
    ASSERT_EQ(static_cast<std::size_t>(table.model()->rowCount()), sums->tensors.size());
    for (const app::TouchedTensorView& tensor : sums->tensors)
        EXPECT_EQ(cell(table, safeName(tensor.name), "touched at most"), exactText(tensor.atMost));
    EXPECT_EQ(tile(page, "Tensors touched").value.value, exactText(sums->tensors.size()));
    EXPECT_EQ(tile(page, "Between them").value.value, "2");
    EXPECT_TRUE(page->exportName().endsWith("touched-11-13.csv"));
}

TEST_F(DiffPageTest, DifferentShowsWhatTheEngineFinds)
{
    DiffPage* page = diff("trl-v2-gap", 2, 8);
    ASSERT_TRUE(compare(page));
    const DiffPointer found = truth(2, 8);
    ASSERT_TRUE(found);
    ASSERT_FALSE(found->equal);
    QTableView& table = page->result().tensors().table();
    ASSERT_EQ(static_cast<std::size_t>(table.model()->rowCount()), found->tensors.size());
    for (const app::TensorDiffView& tensor : found->tensors) {
        EXPECT_EQ(cell(table, safeName(tensor.name), "different"), exactText(tensor.different));
        EXPECT_EQ(cell(table, safeName(tensor.name), "max |Δ|"), smallText(tensor.maxAbs.value()));
        EXPECT_EQ(cell(table, safeName(tensor.name), "max ULP"), exactText(tensor.maxUlp.value()));
        EXPECT_EQ(cell(table, safeName(tensor.name), "sign flips"), exactText(tensor.signFlips.value()));
    }
    EXPECT_EQ(tile(page, "Tensors different").value.value, exactText(found->tensorsDifferent));
    EXPECT_EQ(tile(page, "Tensors different").value.unit, "of " + exactText(found->tensorsTotal));
    EXPECT_EQ(tile(page, "Compared").value.text(), bytesText(found->bytesCompared));
    EXPECT_EQ(page->result().tabs().tabText(1), "Only in A or B 0");
}

TEST_F(DiffPageTest, EqualStepsAreOneSentence)
{
    DiffPage* page = diff("trl-v1.0", 3, 4); // step 4 changed nothing
    ASSERT_TRUE(compare(page));
    EXPECT_TRUE(page->sentence().startsWith("A and B are bit-identical (")) << qPrintable(page->sentence());
    EXPECT_TRUE(page->sentence().contains(bytesText(page->task().result()->bytesCompared)));
}

TEST_F(DiffPageTest, AStepThatCannotBeRebuiltSaysWhy)
{
    DiffPage* page = diff("trl-v2-gap-in-chain", 5, 8); // delta 6 is gone
    page->setMode(DiffPage::Different);
    ASSERT_TRUE(waitFor([&] { return page->task().state() == DiffTask::State::Failed; }));
    EXPECT_EQ(page->shown(), &page->offer());
    EXPECT_TRUE(page->offer().text().contains("cannot be compared")) << qPrintable(page->offer().text());
    EXPECT_TRUE(page->offer().text().contains(QString::fromStdString(page->task().problem()->code)));
    EXPECT_FALSE(page->offer().startButton()->isVisible());
}

TEST_F(DiffPageTest, AResultIsFoundAgain)
{
    DiffPage* page = diff("trl-v2-gap", 2, 8);
    ASSERT_TRUE(compare(page));
    const DiffPointer found = page->task().result();
    const std::size_t tasks = session->monitor().tasks().size();
    window->cursor().setA(StepId { 0, 3 });
    ASSERT_TRUE(waitFor([&] { return page->task().state() == DiffTask::State::Ready; }));
    EXPECT_EQ(page->shown(), &page->offer());
    window->cursor().setA(StepId { 0, 2 });
    ASSERT_TRUE(waitFor([&] { return page->task().state() == DiffTask::State::Done; }));
    EXPECT_EQ(page->task().result(), found);
    EXPECT_EQ(session->monitor().tasks().size(), tasks);
}

TEST_F(DiffPageTest, TheTableIsFilteredAndSortedUndoably)
{
    DiffPage* page = diff("trl-v2-gap", 2, 8);
    ASSERT_TRUE(compare(page));
    QTableView& table = page->result().tensors().table();
    const int all = table.model()->rowCount();
    page->filterField()->setText("mlp");
    const int found = table.model()->rowCount();
    ASSERT_GT(found, 0);
    ASSERT_LT(found, all);
    for (int row = 0; row < found; ++row)
        EXPECT_TRUE(table.model()->index(row, 0).data().toString().contains("mlp"));
    window->actions().trigger("view.undo");
    EXPECT_EQ(table.model()->rowCount(), all);

    const auto differences = [&] {
        std::vector<double> values;
        for (int row = 0; row < all; ++row)
            values.push_back(table.model()->index(row, 2).data(DiffTable::SortRole).toDouble());
        return values;
    };
    const auto before = differences();
    QTest::mouseClick(table.horizontalHeader()->viewport(), Qt::LeftButton, {},
                      { table.horizontalHeader()->sectionViewportPosition(2) + 8, 8 });
    const auto sorted = differences();
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()) || std::is_sorted(sorted.rbegin(), sorted.rend()));
    EXPECT_NE(sorted, before);
    window->actions().trigger("view.undo");
    EXPECT_EQ(differences(), before);
}

TEST_F(DiffPageTest, EnterShowsTheBlocksOfATensor)
{
    DiffPage* page = diff("trl-v2-gap", 2, 8);
    ASSERT_TRUE(compare(page));
    QTableView& table = page->result().tensors().table();
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Return);
    BlockView* blocks = page->result().tensors().blocks();
    ASSERT_TRUE(blocks);
    ASSERT_TRUE(waitFor([&] { return blocks->blocks() != nullptr; }));
    const QString name = table.currentIndex().siblingAtColumn(0).data().toString();
    EXPECT_EQ(safeName(blocks->blocks()->tensor), name);
    EXPECT_EQ(exactText(blocks->blocks()->changed), cell(table, name, "different"));
    EXPECT_EQ(safeName(window->cursor().state().tensor), name);
    QTest::keyClick(&table, Qt::Key_Escape);
    EXPECT_FALSE(blocks->isVisible());
}

TEST(DiffReport, QuotesHostileNames)
{
    app::DiffView diff;
    app::TensorDiffView tensor;
    tensor.name = "=cmd|\"x\"\n";
    tensor.dtype = "BF16";
    tensor.shape = { 2, 3 };
    tensor.elements = 6;
    tensor.different = 1;
    tensor.signFlips = tensor.nanInvolved = 0;
    tensor.maxAbs = 0.5;
    tensor.maxUlp = 0;
    tensor.relativeNorm = 0.25;
    diff.tensors.push_back(tensor);
    const DiffReport report = makeReport(diff, "run", "0:1", "1:2");
    EXPECT_EQ(report.file, "run-diff-0-1-1-2");
    const QByteArrayList lines = report.csv().split('\n');
    ASSERT_EQ(lines.size(), 3);
    EXPECT_EQ(lines[1], "\"'=cmd|\"\"x\"\"\\u000a\",\"BF16\",\"2 × 3\",6,1,,0.5,0.25,0,0,0");
    const QJsonObject row = QJsonDocument::fromJson(report.jsonLines()).object();
    EXPECT_EQ(row["elements"].toInt(), 6);
    EXPECT_TRUE(row["touched"].isNull());
    EXPECT_TRUE(report.markdown().contains("| =cmd\\|\"x\"\\\\u000a | BF16 |"));
}

TEST(SmallText, IsShort)
{
    EXPECT_EQ(smallText(0), "0");
    EXPECT_EQ(smallText(0.0031), "3.1e-3");
    EXPECT_EQ(smallText(3.1e-12), "3.1e-12");
    EXPECT_EQ(smallText(INFINITY), "∞");
}

}
} // namespace deltascope::desktop
