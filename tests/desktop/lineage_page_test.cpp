// The page Lineage over real buckets, as users click and type.

#include "desktop_fixture.h"

#include "pages/lineage/lineage_page.h"
#include "pages/lineage/lineage_strip.h"
#include "pages/lineage/lineage_tree.h"
#include "widgets/filter_field.h"

#include <QUndoStack>

#include <algorithm>

namespace deltascope::desktop {

namespace {

class LineagePageTest : public DesktopFixture {
protected:
    LineagePage* openPage(const char* bucket)
    {
        open(bucket);
        auto* page = show<LineagePage>("lineage");
        EXPECT_TRUE(waitFor([&] { return page && page->tree().lineage().rowCount() > 0; }));
        return page;
    }
    static QModelIndex rowOf(LineagePage& page, const QString& step)
    {
        const LineageModel& model = page.tree().lineage();
        for (int row = 0; row < model.rowCount(); ++row) {
            if (model.index(row, LineageModel::Step).data().toString() == step)
                return model.index(row, 0);
        }
        ADD_FAILURE() << step.toStdString() << " is not shown";
        return {};
    }
    static QString cell(LineagePage& page, const QString& step, LineageModel::Column column)
    {
        return rowOf(page, step).siblingAtColumn(column).data().toString();
    }
    static QPoint placeOf(LineagePage& page, const QString& step)
    {
        return page.tree().visualRect(rowOf(page, step).siblingAtColumn(LineageModel::Kind)).center();
    }
};

TEST_F(LineagePageTest, ShowsGapsAndWhatTheyMakeImpossible)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    EXPECT_EQ(cell(*page, "13", LineageModel::Kind), "delta");
    EXPECT_EQ(cell(*page, "13", LineageModel::Restore), "35.1 kB, 3 deltas");
    EXPECT_EQ(cell(*page, "10", LineageModel::Restore), "24.3 kB");
    EXPECT_EQ(cell(*page, "9", LineageModel::Kind), QStringLiteral("✕ delta"));
    EXPECT_EQ(cell(*page, "9", LineageModel::Restore), "not possible: step 7");
    EXPECT_EQ(cell(*page, "6", LineageModel::Kind), QStringLiteral("○ gap"));
    EXPECT_EQ(cell(*page, "6", LineageModel::Bytes), QStringLiteral("–"));
    EXPECT_EQ(cell(*page, "6", LineageModel::Restore), "not possible: not published");
    EXPECT_EQ(cell(*page, "5", LineageModel::Changed), "2.5 %");
}

TEST_F(LineagePageTest, AClickChoosesBAndWithShiftA)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, {}, placeOf(*page, "11"));
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 11 }));
    EXPECT_FALSE(window->cursor().state().follow);
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, Qt::ShiftModifier, placeOf(*page, "10"));
    EXPECT_EQ(window->cursor().a(), (StepId { 0, 10 }));
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 11 }));
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, {}, placeOf(*page, "6"));
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 11 })) << "a hole is no version";
}

TEST_F(LineagePageTest, CtrlSelectsMoreWithoutMovingB)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, {}, placeOf(*page, "13"));
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, Qt::ControlModifier, placeOf(*page, "11"));
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 13 }));
    EXPECT_EQ(page->tree().selectedRows().size(), 2U);
    const QByteArray csv = page->exportText();
    EXPECT_EQ(csv.count('\n'), 3) << "only what is selected";
}

TEST_F(LineagePageTest, ArrowsMoveB)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    QTest::mouseClick(page->tree().viewport(), Qt::LeftButton, {}, placeOf(*page, "13"));
    QTest::keyClick(&page->tree(), Qt::Key_Down);
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 12 }));
    QTest::keyClick(&page->tree(), Qt::Key_End);
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 1 }));
}

TEST_F(LineagePageTest, AFilterKeepsWhatPassesAndCanBeUndone)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    const int all = page->tree().lineage().rowCount();
    QLineEdit* field = page->filterField();
    QTest::keyClicks(field, "state:broken");
    ASSERT_TRUE(waitFor([&] { return page->tree().lineage().rowCount() == 3; }));
    EXPECT_EQ(field->property("state").toString(), "valid");
    EXPECT_EQ(field->accessibleDescription(), QStringLiteral("✓ 3 of 13"));
    EXPECT_EQ(page->exportText().count('\n'), 4);
    window->actions().trigger("view.undo");
    EXPECT_EQ(field->text(), "");
    ASSERT_TRUE(waitFor([&] { return page->tree().lineage().rowCount() == all; }));
    field->setText("state:");
    EXPECT_EQ(field->property("state").toString(), "invalid");
    ASSERT_TRUE(waitFor([&] { return page->tree().lineage().rowCount() == all; })) << "a mistake hides nothing";
    field->clear();
    EXPECT_EQ(field->property("state").toString(), "");
}

TEST_F(LineagePageTest, TheStripMovesBAndTheRange)
{
    LineagePage* page = openPage("trl-v2-gap-in-chain");
    LineageStrip& strip = page->strip();
    ASSERT_EQ(strip.table()->rowCount(), 13);
    const auto xOf = [&](std::size_t row) { return static_cast<int>(strip.xOf(row) + 4); };
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(xOf(3), 20)); // rows: 13 12 11 10 …
    EXPECT_EQ(window->cursor().b(), (StepId { 0, 10 }));

    QTest::mousePress(&strip, Qt::LeftButton, {}, QPoint(xOf(12) + 20, 20));
    QTest::mouseMove(&strip, QPoint(xOf(9), 20));
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, QPoint(xOf(9), 20));
    EXPECT_EQ(window->cursor().state().range, (StepRange { 1, 4 }));
    QTest::mousePress(&strip, Qt::LeftButton, {}, QPoint(xOf(11), 20)); // inside: moves it
    QTest::mouseMove(&strip, QPoint(xOf(10), 20));
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, QPoint(xOf(10), 20));
    EXPECT_EQ(window->cursor().state().range, (StepRange { 2, 5 }));
    QTest::keyClick(&strip, Qt::Key_S);
    EXPECT_NE(window->cursor().state().range, (StepRange { 2, 5 })) << "S shows more";
    QTest::mouseDClick(&strip, Qt::LeftButton, {}, QPoint(xOf(1), 20));
    EXPECT_FALSE(window->cursor().state().range);
}

TEST_F(LineagePageTest, ANewVersionAppearsOnTopByItself)
{
    const app::SourceRequest source = golden("trl-v2-raw");
    const std::filesystem::path deltas = std::filesystem::path(source.source.text()) / "deltas";
    std::filesystem::path newest;
    for (const auto& file : std::filesystem::directory_iterator(deltas))
        newest = std::max(newest, file.path());
    const std::filesystem::path aside = home.path("aside.safetensors");
    std::filesystem::rename(newest, aside);
    window->openSource(source);
    auto* page = show<LineagePage>("lineage");
    ASSERT_TRUE(waitFor([&] { return page->tree().lineage().rowCount() > 0 && window->focus().run()->run->settled; }));
    const auto top = [&] { return page->tree().lineage().index(0, LineageModel::Step).data().toString(); };
    const QString before = top();
    std::filesystem::rename(aside, newest);
    ASSERT_TRUE(waitFor([&] { return top() != before; }));
    EXPECT_EQ(top().toInt(), before.toInt() + 1);
    EXPECT_EQ(page->tree().lineage().versionOf(page->tree().currentIndex())->step, top().toInt()) << "B follows";
}

TEST_F(LineagePageTest, AllThatTakesTheFocusHasAName)
{
    LineagePage* page = openPage("trl-v2-raw");
    for (const QWidget* widget : page->findChildren<QWidget*>()) {
        if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible()) {
            EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->metaObject()->className();
        }
    }
}

}

} // namespace deltascope::desktop
