// A roll back, as users see, begin and undo it.

#include "desktop_fixture.h"
#include "page_text.h"

#include "acts/roll_back_outcome.h"
#include "acts/roll_back_sheet.h"
#include "widgets/cards.h"
#include "widgets/text_table.h"
#include "window/task_row.h"

#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>

namespace deltascope::desktop {
namespace {

class RollBack : public DesktopFixture {
protected:
    /// The sheet for a step of the run that is open.
    RollBackSheet* sheetFor(std::int64_t step)
    {
        window->cursor().setB({ 0, step });
        window->actions().trigger(QStringLiteral("run.rollBack"));
        return newest();
    }
    RollBackSheet* newest() const
    {
        const auto sheets = window->findChildren<RollBackSheet*>();
        EXPECT_FALSE(sheets.isEmpty());
        return sheets.isEmpty() ? nullptr : sheets.back();
    }
    static QLineEdit* wordOf(const QWidget* sheet) { return sheet->findChild<QLineEdit*>(QStringLiteral("confirm")); }
    static QPushButton* actOf(const QWidget* sheet) { return sheet->findChild<QPushButton*>(QStringLiteral("act")); }
    static bool waitForPlan(const QWidget* sheet)
    {
        return waitFor([sheet] { return wordOf(sheet) && wordOf(sheet)->isVisible(); });
    }
    static bool waitForText(const QWidget* sheet, const QString& text)
    {
        return waitFor([&] { return said(*sheet).contains(text); });
    }
    QString name() const { return QString::fromStdString(window->focus().run()->name); }
    QList<TaskRow*> rowsWithUndo() const
    {
        QList<TaskRow*> rows;
        for (TaskRow* row : window->findChildren<TaskRow*>()) {
            for (const QPushButton* button : row->findChildren<QPushButton*>()) {
                if (button->text() == QStringLiteral("Undo…") && button->isVisibleTo(row))
                    rows << row;
            }
        }
        return rows;
    }
};

TEST_F(RollBack, ShowsWhatItWillDoAsksForTheNameAndCanBeUndone)
{
    open("trl-v2-gap");
    RollBackSheet* sheet = sheetFor(8);
    ASSERT_TRUE(sheet);
    EXPECT_FALSE(actOf(sheet)->isEnabled());
    ASSERT_TRUE(waitForPlan(sheet)) << said(*sheet).toStdString();
    EXPECT_FALSE(actOf(sheet)->isEnabled()) << "nobody has typed the name";
    for (const char* text : { "Roll back", "to step 8", "a delta behind step 15", "Nothing is overwritten or deleted",
                              "Not known here: which engines load step 16" })
        EXPECT_TRUE(said(*sheet).contains(QString::fromLatin1(text))) << text << "\n" << said(*sheet).toStdString();
    const auto tables = sheet->findChildren<TextTable*>();
    ASSERT_EQ(tables.size(), 3);
    EXPECT_EQ(tables[1]->rows().size(), 15U) << "tensors";
    EXPECT_EQ(tables[1]->rows().front().bar, 1.0) << "the largest share has the longest bar";
    EXPECT_EQ(tables[2]->rows().front().cells.value(0), QStringLiteral("write"));
    EXPECT_EQ(tables[2]->rows().front().cells.value(1), QStringLiteral("deltas/step_000016.safetensors"));

    wordOf(sheet)->setText(name() + QStringLiteral("x"));
    EXPECT_FALSE(actOf(sheet)->isEnabled()) << "that is another run";
    QTest::keyClick(wordOf(sheet), Qt::Key_Return);
    QTest::qWait(50);
    EXPECT_TRUE(session->monitor().tasks().empty());
    wordOf(sheet)->setText(name());
    ASSERT_TRUE(actOf(sheet)->isEnabled());
    actOf(sheet)->click();
    ASSERT_TRUE(waitForText(sheet, QStringLiteral("Step 16 restores step 8"))) << said(*sheet).toStdString();
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("Who has loaded it is not known here")));
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("step_000016.safetensors")));
    EXPECT_TRUE(std::filesystem::exists(home.path("trl-v2-gap/bucket/deltas/step_000016.safetensors")));
    EXPECT_TRUE(waitFor([this] { return rowsWithUndo().size() == 1; }));
    ASSERT_TRUE(waitFor([this] { return window->actions().isEnabled(QStringLiteral("run.undo")); }));

    auto* undo = sheet->findChild<QPushButton*>(QStringLiteral("undo"));
    ASSERT_TRUE(undo && undo->isVisible());
    undo->click();
    sheet = newest();
    ASSERT_TRUE(waitForPlan(sheet)) << said(*sheet).toStdString();
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("Undo the roll back")));
    wordOf(sheet)->setText(name());
    ASSERT_TRUE(actOf(sheet)->isEnabled());
    actOf(sheet)->click();
    ASSERT_TRUE(waitForText(sheet, QStringLiteral("Step 17 restores step 15"))) << said(*sheet).toStdString();
    EXPECT_TRUE(waitFor([this] { return rowsWithUndo().size() == 1; })) << "only what was done last can be undone";
    EXPECT_EQ(rowsWithUndo().front()->task().plan.kind, "undo");
}

TEST_F(RollBack, TheStepIsChosenInTheListAndPlannedAgain)
{
    open("trl-v2-gap-in-chain");
    RollBackSheet* sheet = sheetFor(12);
    ASSERT_TRUE(sheet);
    ASSERT_TRUE(waitForPlan(sheet)) << said(*sheet).toStdString();
    auto* steps = sheet->findChildren<TextTable*>().front();
    ASSERT_TRUE(steps->currentRow());
    EXPECT_EQ(steps->currentRow()->cells.value(0), QStringLiteral("12"));
    int wanted = -1;
    for (std::size_t at = 0; at < steps->rows().size(); ++at) {
        const QString step = steps->rows()[at].cells.value(0);
        EXPECT_NE(step, QStringLiteral("9")) << "it is lost behind the gap";
        if (step == QStringLiteral("3"))
            wanted = static_cast<int>(at);
    }
    ASSERT_GE(wanted, 0);
    wordOf(sheet)->setText(name());
    ASSERT_TRUE(actOf(sheet)->isEnabled());
    steps->selectRow(wanted);
    EXPECT_FALSE(actOf(sheet)->isEnabled()) << "the plan was of another step";
    EXPECT_TRUE(wordOf(sheet)->text().isEmpty()) << "so was the word";
    EXPECT_TRUE(sheet->windowTitle().endsWith(QStringLiteral("to step 3")));
    ASSERT_TRUE(waitForText(sheet, QStringLiteral("step 3,"))) << said(*sheet).toStdString();
    EXPECT_TRUE(waitFor([&] {
        wordOf(sheet)->setText(name());
        return actOf(sheet)->isEnabled();
    }));
    sheet->reject();
}

TEST_F(RollBack, IsOneClickAwayAndOnlyForAStepThatCanBeRebuilt)
{
    open("trl-v2-gap-in-chain");
    window->cursor().setB({ 0, 13 });
    window->showPage(QStringLiteral("live"));
    const auto offers = [this] { return window->actions().isEnabled(QStringLiteral("run.rollBack")); };
    EXPECT_TRUE(waitFor(offers));
    const auto* details = window->findChild<QPushButton*>(QStringLiteral("run.rollBack"));
    ASSERT_TRUE(details);
    EXPECT_TRUE(waitFor([details] { return details->isVisible() && details->isEnabled(); })) << "one click away";
    window->cursor().setB({ 0, 9 }); // lost behind the gap
    EXPECT_FALSE(offers());
    EXPECT_FALSE(details->isEnabled());
    EXPECT_FALSE(window->actions().isEnabled(QStringLiteral("run.undo"))) << "the newest step is no roll back";
}

TEST_F(RollBack, ALayoutThatCannotBeWrittenSaysWhatToDo)
{
    open("trl-v1.2");
    RollBackSheet* sheet = sheetFor(8);
    ASSERT_TRUE(sheet);
    ASSERT_TRUE(waitForText(sheet, QStringLiteral("cannot be published in trl-v1.2"))) << said(*sheet).toStdString();
    EXPECT_FALSE(actOf(sheet)->isEnabled());
    EXPECT_FALSE(wordOf(sheet)) << "there is nothing to confirm";
    bool found = false;
    for (const CommandLine* line : sheet->findChildren<CommandLine*>())
        found = found || (line->isVisible() && line->command().startsWith(QStringLiteral("deltascope materialize ")));
    EXPECT_TRUE(found) << said(*sheet).toStdString();
}

TEST_F(RollBack, WhatChangedSinceThePlanIsRefusedAndPlannedAgain)
{
    open("trl-v2-gap");
    RollBackSheet* sheet = sheetFor(8);
    ASSERT_TRUE(waitForPlan(sheet));
    wordOf(sheet)->setText(name());
    ASSERT_TRUE(actOf(sheet)->isEnabled());
    // Somebody else rolls back meanwhile.
    app::ActRequest other { "rollback", { { "step", std::string("0:3") } } };
    auto plan = session->monitor().plan(window->focus().id().toStdString(), other, "kim");
    ASSERT_TRUE(plan);
    ASSERT_TRUE(waitFor([&] { return session->monitor().planned(plan->id)->state == "ready"; }));
    const std::string hash = session->monitor().planned(plan->id)->hash;
    ASSERT_TRUE(session->monitor().start(plan->id, hash, "kim"));
    ASSERT_TRUE(waitFor([this] { return session->monitor().tasks().front().state == "done"; }));
    actOf(sheet)->click();
    EXPECT_TRUE(waitFor([&] {
        const QString text = said(*sheet);
        return text.contains(QStringLiteral("✕")) || text.contains(QStringLiteral("step 17"));
    })) << said(*sheet).toStdString();
    EXPECT_FALSE(said(*sheet).contains(QStringLiteral("Step 17 restores"))) << "the plan was of another run";
}

TEST(LoadedText, CountsWhoServesTheStepNow)
{
    app::ReplicaView loaded;
    loaded.step = 17;
    app::ReplicaView behind;
    behind.step = 15;
    app::ReplicaView silent = loaded;
    silent.late = true;
    EXPECT_EQ(loadedText({ loaded, behind, loaded }, 17), QStringLiteral("2 of 3 replicas serve step 17"));
    EXPECT_EQ(loadedText({ loaded, silent }, 17), QStringLiteral("1 of 2 replicas serve step 17"))
        << "what it said before it fell silent does not count";
    EXPECT_EQ(loadedText({ behind }, 17), QStringLiteral("0 of 1 replica serves step 17"));
    EXPECT_TRUE(loadedText({}, 17).contains(QStringLiteral("not known here")));
}

}
} // namespace deltascope::desktop
