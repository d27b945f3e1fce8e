#include "pages/tensors/tensors_page.h"
#include "pages/tensors/values_panel.h"

#include "desktop_fixture.h"
#include "look/format.h"
#include "pages/heatmap/block_view.h"
#include "widgets/segments.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QPushButton>
#include <QTreeView>

// The values of a tensor, on request, over a real bucket.

namespace deltascope::desktop {
namespace {

constexpr const char* Tensor = "model.layers.0.mlp.down_proj.weight";

class ValuesPanelTest : public DesktopFixture {
protected:
    ValuesPanel* openPanel(const std::string& bucket, const std::string& tensor = Tensor)
    {
        open(bucket);
        window->activateWindow(); // else nothing gets the focus
        page = show<TensorsPage>("tensors");
        EXPECT_TRUE(waitFor([&] {
            const TensorListingPointer& listing = page->model().listing();
            return listing && listing->heat == window->focus().run()->heat;
        }));
        page->list()->setCurrentIndex(page->model().indexOf(tensor));
        EXPECT_TRUE(waitFor([&] { return page->values()->computeButton()->isEnabled(); }));
        return page->values();
    }
    static void compute(ValuesPanel* panel)
    {
        panel->computeButton()->click();
        EXPECT_TRUE(waitFor([&] { return panel->statistics() != nullptr; }));
    }
    static QString cell(ValuesPanel* panel, const QString& name, int column)
    {
        for (int row = 0; row < panel->table().rowCount(); ++row) {
            if (panel->table().index(row, ValuesTable::Name).data() == name)
                return panel->table().index(row, column).data().toString();
        }
        return QStringLiteral("no such row");
    }
    static bool isVisible(const QWidget* widget) { return !widget->isHidden(); }

    TensorsPage* page = nullptr;
};

TEST_F(ValuesPanelTest, SaysWhatItWouldReadAndReadsNothingBefore)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    EXPECT_TRUE(panel->isVisible()) << "there is room";
    EXPECT_TRUE(panel->computeButton()->text().startsWith(QStringLiteral("Compute (reads ")));
    EXPECT_TRUE(panel->computeButton()->text().contains(QStringLiteral("kB")));
    EXPECT_FALSE(panel->statistics());
    ASSERT_TRUE(waitFor([&] { return panel->historyButton()->isEnabled(); }));
    EXPECT_TRUE(panel->historyButton()->text().startsWith(QStringLiteral("Compute (reads ")));
}

TEST_F(ValuesPanelTest, ComputesBAgainstWhatItBuildsOn)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    compute(panel);
    const app::StatisticsView& view = *panel->statistics();
    EXPECT_EQ(view.tensor, Tensor);
    EXPECT_EQ(view.b.step, 14);
    ASSERT_TRUE(view.a && view.moved);
    EXPECT_EQ(view.a->step, 13);
    ASSERT_TRUE(waitFor([&] { return page->blocks()->blocks() != nullptr; }));
    EXPECT_EQ(view.moved->changed, page->blocks()->blocks()->changed);
    EXPECT_EQ(cell(panel, QStringLiteral("max"), ValuesTable::AtB), valueText(view.b.max));
    EXPECT_EQ(cell(panel, QStringLiteral("median"), ValuesTable::AtA), valueText(view.a->percentiles[2].second));
    EXPECT_EQ(cell(panel, QStringLiteral("changed"), ValuesTable::AtB), exactText(view.moved->changed));
    EXPECT_EQ(panel->histogram()->table()->rowCount(), 64);
    EXPECT_EQ(panel->histogram()->table()->columnCount(), 2);
    EXPECT_FALSE(isVisible(panel->computeButton()));
    EXPECT_FALSE(isVisible(panel->problem()));
    quint64 elements = 0;
    for (const MovedTable::Row& row : qobject_cast<MovedTable*>(panel->moved()->table())->rows())
        elements += row.count;
    EXPECT_EQ(elements, view.elements);
}

TEST_F(ValuesPanelTest, ComparesWithAWhereThereIsOne)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    window->cursor().setA(StepId { 0, 3 });
    ASSERT_TRUE(waitFor([&] { return panel->computeButton()->isEnabled(); }));
    compute(panel);
    EXPECT_EQ(panel->statistics()->a->step, 3);
}

TEST_F(ValuesPanelTest, AtAnotherStepTheResultStaysUntilTheNextIsAskedFor)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    compute(panel);
    window->cursor().setB({ 0, 1 });
    ASSERT_TRUE(panel->statistics());
    EXPECT_EQ(panel->statistics()->b.step, 14);
    ASSERT_TRUE(waitFor([&] { return panel->computeButton()->isEnabled(); }));
    EXPECT_TRUE(isVisible(panel->computeButton()));
    EXPECT_TRUE(panel->computeButton()->text().startsWith(QStringLiteral("Compute step 1 (reads ")));
    panel->computeButton()->click();
    ASSERT_TRUE(waitFor([&] { return panel->statistics()->b.step == 1; }));
    EXPECT_FALSE(panel->statistics()->a) << "the first state has none before";
    EXPECT_EQ(panel->histogram()->table()->columnCount(), 1);
    EXPECT_FALSE(isVisible(panel->computeButton()));
}

TEST_F(ValuesPanelTest, AnotherTensorTakesTheResultAway)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    compute(panel);
    page->list()->setCurrentIndex(page->model().indexOf("model.norm.weight"));
    EXPECT_FALSE(panel->statistics());
    EXPECT_EQ(panel->table().rowCount(), 0);
}

TEST_F(ValuesPanelTest, ShowsWhatFailed)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    const QString bucket = QString::fromStdString(home.path("trl-v2-raw/bucket"));
    std::filesystem::remove_all(bucket.toStdString());
    panel->computeButton()->click();
    ASSERT_TRUE(waitFor([&] { return isVisible(panel->problem()); }));
    EXPECT_TRUE(panel->problem()->text().contains(QStringLiteral("DS-"))) << panel->problem()->text().toStdString();
    EXPECT_TRUE(isVisible(panel->computeButton()));
}

TEST_F(ValuesPanelTest, RemembersTheLastSteps)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    ASSERT_TRUE(waitFor([&] { return panel->historyButton()->isEnabled(); }));
    panel->historyButton()->click();
    ASSERT_TRUE(waitFor([&] { return panel->history()->table()->rowCount() == 14; }));
    const QAbstractItemModel* table = panel->history()->table();
    EXPECT_EQ(table->headerData(13, Qt::Vertical).toString(), QStringLiteral("step 14"));
    compute(panel);
    EXPECT_EQ(table->index(13, 0).data().toString(), valueText(panel->statistics()->b.min));
    panel->history()->setFocus();
    EXPECT_EQ(page->canvas(), panel->history());
    QTest::keyClick(panel->history(), Qt::Key_Left);
    EXPECT_EQ(panel->history()->stepAtCursor(), (StepId { 0, 13 }));
}

TEST_F(ValuesPanelTest, IsReadByKeyboardAndCopied)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    compute(panel);
    HistogramCanvas* histogram = panel->histogram();
    histogram->setFocus();
    EXPECT_EQ(page->canvas(), histogram);
    QTest::keyClick(histogram, Qt::Key_Right);
    EXPECT_EQ(histogram->currentCell().row(), 0);
    QTest::keyClick(histogram, Qt::Key_End);
    EXPECT_EQ(histogram->currentCell().row(), 63);
    EXPECT_EQ(histogram->accessibleDescription(), histogram->binText());
    histogram->setForm(HistogramForm::Sizes);
    EXPECT_EQ(histogram->table()->rowCount(), static_cast<int>(panel->statistics()->logarithmic.b.size()));
    const QStringList lines = panel->table().asTsv().split(QLatin1Char('\n'));
    EXPECT_EQ(lines.front(), QStringLiteral("statistic\tA 13\tB 14"));
    EXPECT_EQ(lines.size(), panel->table().rowCount() + 1);
    EXPECT_EQ(lines[1].section(QLatin1Char('\t'), 2).toDouble(), *panel->statistics()->b.min);
}

TEST_F(ValuesPanelTest, IsHiddenAndShownOnRequest)
{
    ValuesPanel* panel = openPanel("trl-v2-raw");
    page->valuesButton()->click();
    EXPECT_FALSE(panel->isVisible());
    window->resize(1500, 900);
    QTest::qWait(20);
    EXPECT_FALSE(panel->isVisible()) << "the choice of the user stays";
    page->valuesButton()->click();
    EXPECT_TRUE(panel->isVisible());
}

}
} // namespace deltascope::desktop
