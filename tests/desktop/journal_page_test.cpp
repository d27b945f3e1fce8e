// What people say about a run: the sheets that are made from the fields of an act, and the page Journal.

#include "desktop_fixture.h"
#include "page_text.h"

#include "acts/act_sheet.h"
#include "pages/journal/journal_page.h"
#include "pages/journal/journal_rows.h"
#include "widgets/text_table.h"
#include "window/task_row.h"

#include <QLineEdit>
#include <QPushButton>

namespace deltascope::desktop {
namespace {

class Journal : public DesktopFixture {
protected:
    ActSheet* newest() const
    {
        const auto sheets = window->findChildren<ActSheet*>();
        EXPECT_FALSE(sheets.isEmpty());
        return sheets.isEmpty() ? nullptr : sheets.back();
    }
    ActSheet* sheetOf(const char* action)
    {
        window->actions().trigger(QString::fromLatin1(action));
        return newest();
    }
    static QLineEdit* field(const QWidget* sheet, const char* name)
    {
        return sheet->findChild<QLineEdit*>(QString::fromLatin1(name));
    }
    static QPushButton* actOf(const QWidget* sheet) { return sheet->findChild<QPushButton*>(QStringLiteral("act")); }
    /// Begins the act and waits until it is done.
    void act(ActSheet* sheet)
    {
        const std::size_t before = session->monitor().tasks().size();
        ASSERT_TRUE(waitFor([sheet] { return actOf(sheet)->isEnabled(); })) << said(*sheet).toStdString();
        actOf(sheet)->click();
        ASSERT_TRUE(waitFor([&] {
            const auto tasks = session->monitor().tasks();
            return tasks.size() > before && isOver(tasks.front());
        }));
        EXPECT_EQ(session->monitor().tasks().front().state, "done");
    }
    static bool has(const TextTable& table, const QString& text)
    {
        return table.tabbedText().section(QLatin1Char('\n'), 1).contains(text);
    }
};

TEST_F(Journal, ANoteReachesIt)
{
    open("trl-v2-gap");
    auto* page = show<JournalPage>("journal");
    ASSERT_TRUE(page);
    EXPECT_TRUE(waitFor([&] { return said(*page).contains(QStringLiteral("Nothing was done to this run yet")); }));
    window->cursor().setB({ 0, 12 });
    ActSheet* sheet = sheetOf("act.note");
    ASSERT_TRUE(sheet);
    EXPECT_EQ(field(sheet, "step")->text(), QStringLiteral("0:12"));
    EXPECT_EQ(sheet->focusWidget(), field(sheet, "text")) << "the step is known already";
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("Fill in: Note")));
    EXPECT_FALSE(actOf(sheet)->isEnabled());
    field(sheet, "text")->setText(QStringLiteral("the reward fell here"));
    act(sheet);
    ASSERT_TRUE(waitFor([&] { return has(page->notes(), QStringLiteral("12\tthe reward fell here")); }))
        << textOf(*page);
    EXPECT_TRUE(waitFor([&] { return has(page->journal(), QStringLiteral("step 12: the reward fell here")); }));
    EXPECT_TRUE(page->exportText().contains("the reward fell here"));
    page->filterField()->setText(QStringLiteral("nobody wrote this"));
    EXPECT_FALSE(has(page->notes(), QStringLiteral("reward")));
    EXPECT_TRUE(said(*page).contains(QStringLiteral("Nothing passes the filter")));
    EXPECT_FALSE(said(*page).contains(QStringLiteral("Nothing was done"))) << "it is only filtered";
    page->filterField()->setText(QStringLiteral("REWARD"));
    EXPECT_TRUE(has(page->notes(), QStringLiteral("reward")));
}

TEST_F(Journal, AWordIsGivenShownAndRemoved)
{
    open("trl-v2-gap");
    window->cursor().setB({ 0, 12 });
    ActSheet* sheet = sheetOf("act.ref");
    field(sheet, "name")->setText(QStringLiteral("best"));
    act(sheet);
    window->actions().trigger(QStringLiteral("act.pin")); // its name may be left out
    act(newest());
    auto* page = show<JournalPage>("journal");
    ASSERT_TRUE(waitFor([&] { return has(page->words(), QStringLiteral("best\t12")); })) << textOf(*page);
    ASSERT_TRUE(waitFor([&] { return has(page->words(), QStringLiteral("pin/step-12\t12")); })) << textOf(*page);
    ASSERT_TRUE(waitFor([this] { return window->focus().step({ 0, 12 })->refs.size() == 2; }));
    page->words().setCurrentIndex(page->words().model()->index(1, 0));
    for (QPushButton* button : page->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Remove…"))
            button->click();
    }
    sheet = newest();
    EXPECT_EQ(field(sheet, "name")->text(), QStringLiteral("step-12")) << "without the prefix of pins";
    act(sheet);
    EXPECT_TRUE(waitFor([&] { return !has(page->words(), QStringLiteral("pin/step-12")); })) << textOf(*page);
    EXPECT_TRUE(has(page->words(), QStringLiteral("best\t12")));
}

TEST_F(Journal, ABranchBeginsInASheetAndItsRowSaysWhere)
{
    open("trl-v2-gap");
    window->cursor().setB({ 0, 12 });
    ActSheet* sheet = sheetOf("act.branch");
    ASSERT_TRUE(sheet);
    EXPECT_EQ(field(sheet, "step")->text(), QStringLiteral("0:12"));
    EXPECT_TRUE(waitFor([sheet] { return said(*sheet).contains(QStringLiteral("Fill in: Into")); }));
    EXPECT_FALSE(actOf(sheet)->isEnabled());
    const QString into = QString::fromStdString(home.path("branched"));
    field(sheet, "into")->setText(into);
    act(sheet);
    EXPECT_TRUE(std::filesystem::exists(home.path("branched/anchors")));
    EXPECT_TRUE(waitFor([&] {
        const auto rows = window->findChildren<TaskRow*>();
        return std::any_of(rows.begin(), rows.end(), [&](const TaskRow* row) {
            return said(*row).contains(into + QStringLiteral(" begins with the state of step 12\n"));
        });
    }));
}

TEST_F(Journal, AStepThatIsNotThereIsRefusedInTheSheet)
{
    open("trl-v2-gap");
    window->cursor().setB({ 0, 12 });
    ActSheet* sheet = sheetOf("act.note");
    field(sheet, "text")->setText(QStringLiteral("a note"));
    ASSERT_TRUE(waitFor([sheet] { return actOf(sheet)->isEnabled(); }));
    field(sheet, "step")->setText(QStringLiteral("0:999"));
    EXPECT_FALSE(actOf(sheet)->isEnabled());
    EXPECT_TRUE(waitFor([sheet] { return said(*sheet).contains(QStringLiteral("✕")); })) << said(*sheet).toStdString();
    EXPECT_FALSE(actOf(sheet)->isEnabled());
}

TEST(JournalRows, SayWhatWentWrongAndWhatIsOnThisMachineAlone)
{
    app::AnnotationsView said;
    said.refs.resize(3);
    said.refs[0].word = "good";
    said.refs[0].step = 12;
    said.refs[0].isHere = true;
    said.refs[0].by = "kim";
    said.refs[0].isLocal = true;
    said.refs[1].word = "gone";
    said.refs[1].step = 3;
    said.refs[2].word = "torn";
    said.refs[2].problem = app::ProblemView {};
    said.refs[2].problem->text = "its last move cannot be read";
    const std::vector<TextRow> words = wordRows(said, {}, 0);
    ASSERT_EQ(words.size(), 3U);
    EXPECT_FALSE(words[0].bad);
    EXPECT_EQ(words[0].cells.value(3), QStringLiteral("kim, on this machine alone"));
    EXPECT_TRUE(words[1].bad);
    EXPECT_TRUE(words[1].cells.value(2).contains(QStringLiteral("not in the run any more")));
    EXPECT_TRUE(words[2].bad);
    EXPECT_EQ(words[2].cells.value(1), QStringLiteral("–")) << "it names no step";
    said.journal.resize(2);
    said.journal[0].phase = "done";
    said.journal[1].phase = "failed";
    said.journal[1].number = 1;
    const std::vector<TextRow> journal = journalRows(said, {}, 0);
    EXPECT_TRUE(journal[0].bad) << "the newest first";
    EXPECT_FALSE(journal[1].bad);
}

}
} // namespace deltascope::desktop
