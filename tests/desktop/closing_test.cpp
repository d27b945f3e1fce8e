#include "desktop_fixture.h"

#include "acts/plan_sheet.h"
#include "help/page_help.h"
#include "integration/tray.h"
#include "window/bottom_dock.h"
#include "window/task_row.h"
#include "window/tasks_panel.h"

#include <QApplication>
#include <QDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>

#include <algorithm>

// What becomes of tasks when the window closes, and what the next start finds.

namespace deltascope::desktop {
namespace {

class Closing : public DesktopFixture {
protected:
    /// A materialization that waits.
    std::string pausedTask()
    {
        open("trl-v2-gap");
        app::MaterializeArgs request;
        request.step = "12";
        request.to = home.path("made");
        const std::string run = window->focus().id().toStdString();
        const app::PlanView plan = madePlan(run, request);
        const Result<app::TaskView> task = session->monitor().start(plan.id, plan.hash, "desktop");
        if (!task) {
            ADD_FAILURE() << task.error().text;
            return {};
        }
        (void)session->monitor().pause(task->id);
        EXPECT_TRUE(waitFor([this] { return panel().runningTasks() == 1; }));
        return task->id;
    }
    TasksPanel& panel() const { return window->findChild<BottomDock*>()->tasks(); }
    QMessageBox* question() const { return window->findChild<QMessageBox*>(QStringLiteral("closing")); }
    QPushButton* button(const QString& text) const
    {
        for (QPushButton* candidate : window->findChildren<QPushButton*>()) {
            if (candidate->text().remove(QLatin1Char('&')) == text && candidate->isVisibleTo(window.get()))
                return candidate;
        }
        return nullptr;
    }
    void restart()
    {
        window.reset();
        session.reset();
        session = std::move(*Session::create());
        window = std::make_unique<MainWindow>(*session);
        window->show();
        EXPECT_TRUE(waitFor([this] { return window->findChild<TaskRow*>() != nullptr; }));
    }
};

TEST_F(Closing, WithoutTasksNeedsNoQuestion)
{
    open("trl-v2-gap");
    EXPECT_TRUE(window->close());
    EXPECT_FALSE(window->isVisible());
}

TEST_F(Closing, WithTasksAsksOnceAndStaysWhenToldTo)
{
    window->setReachable(true);
    pausedTask();
    EXPECT_FALSE(window->close());
    ASSERT_TRUE(question());
    EXPECT_EQ(question()->buttons().size(), 3);
    button(QStringLiteral("Cancel"))->click();
    EXPECT_TRUE(window->isVisible());
    EXPECT_EQ(panel().runningTasks(), 1);
}

TEST_F(Closing, OffersTheBackgroundOnlyWhereTheWindowCanComeBack)
{
    pausedTask();
    EXPECT_FALSE(window->close());
    ASSERT_TRUE(question());
    EXPECT_EQ(question()->buttons().size(), 2);
}

TEST_F(Closing, InTheBackgroundTasksGoOnAndTheWindowComesBack)
{
    window->setReachable(true);
    const std::string task = pausedTask();
    window->actions().trigger(QStringLiteral("help.page"));
    const QPointer<PageHelp> help = window->findChild<PageHelp*>();
    ASSERT_TRUE(help && help->isVisible());
    window->close();
    button(QStringLiteral("Keep running in the background"))->click();
    EXPECT_FALSE(window->isVisible());
    EXPECT_FALSE(help && help->isVisible()) << "nothing of it stays on the screen";
    window->comeBack();
    EXPECT_TRUE(window->isVisible());
    QSignalSpy quits(qApp, &QCoreApplication::aboutToQuit);
    (void)session->monitor().resume(task);
    EXPECT_TRUE(waitFor([this] { return panel().runningTasks() == 0; }));
    QTest::qWait(1500);
    EXPECT_TRUE(quits.isEmpty()) << "it came back and stays";
}

TEST_F(Closing, PausedTasksAreThereAtTheNextStartAndGoOn)
{
    const std::string task = pausedTask();
    window->close();
    button(QStringLiteral("Pause and quit"))->click();
    EXPECT_FALSE(window->isVisible());
    restart();
    ASSERT_TRUE(session->monitor().task(task));
    EXPECT_TRUE(session->monitor().task(task)->interrupted);
    EXPECT_TRUE(waitFor([this] { return window->findChild<BottomDock*>()->isVisible(); })) << "told without a run";
    EXPECT_EQ(panel().runningTasks(), 0);
    EXPECT_TRUE(window->close()) << "nothing is at work";
    window->show();
    QPushButton* resume = button(QStringLiteral("Resume"));
    ASSERT_TRUE(resume);
    resume->click();
    EXPECT_TRUE(waitFor([&] { return session->monitor().task(task)->state == "done"; }));
    EXPECT_TRUE(std::filesystem::exists(home.path("made/model.safetensors")));
}

TEST_F(Closing, ATaskWhoseRunChangedOffersANewPlan)
{
    const std::string task = pausedTask();
    window->close();
    button(QStringLiteral("Pause and quit"))->click();
    window.reset();
    session.reset();
    const std::string object = home.path("trl-v2-gap/bucket/deltas/step_000011.safetensors");
    std::filesystem::last_write_time(object, std::filesystem::file_time_type::clock::now());
    session = std::move(*Session::create());
    window = std::make_unique<MainWindow>(*session);
    window->show();
    ASSERT_TRUE(waitFor([this] { return button(QStringLiteral("Resume")) != nullptr; }));
    button(QStringLiteral("Resume"))->click();
    ASSERT_TRUE(waitFor([&] { return session->monitor().task(task)->state == "failed"; }));
    ASSERT_TRUE(waitFor([this] { return button(QStringLiteral("New plan…")) != nullptr; }));
    button(QStringLiteral("New plan…"))->click();
    auto* sheet = window->findChild<PlanSheet*>();
    ASSERT_TRUE(sheet);
    ASSERT_TRUE(waitFor([&] { return button(QStringLiteral("Start"))->isEnabled(); }));
    button(QStringLiteral("Start"))->click();
    EXPECT_TRUE(waitFor([&] { return session->monitor().tasks().front().state == "done"; }));
    EXPECT_NE(session->monitor().tasks().front().id, task);
}

TEST_F(Closing, ACanceledInterruptedTaskCanBeThrownAway)
{
    const std::string task = pausedTask();
    window->close();
    button(QStringLiteral("Pause and quit"))->click();
    restart();
    ASSERT_FALSE(button(QStringLiteral("Delete partial…"))) << "its run is not open";
    app::SourceRequest source;
    source.source = home.path("trl-v2-gap/bucket");
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] { return button(QStringLiteral("Delete partial…")) != nullptr; }));
    std::filesystem::create_directory(home.path(".made.ds-0123456789abcdef-2000000000-0badf00d"));
    button(QStringLiteral("Delete partial…"))->click();
    auto* sheet = window->findChild<PlanSheet*>();
    ASSERT_TRUE(sheet);
    auto* discard = sheet->findChild<QPushButton*>(QStringLiteral("act"));
    ASSERT_TRUE(waitFor([&] { return discard->isEnabled(); }));
    discard->click();
    EXPECT_TRUE(waitFor([&] { return session->monitor().task(task)->state == "canceled"; }));
    EXPECT_FALSE(session->monitor().task(task)->resumable);
}

TEST_F(Closing, CancelingAsksWhatBecomesOfThePart)
{
    const std::string id = pausedTask();
    auto* row = window->findChild<TaskRow*>();
    const auto asked = [&] { return row->findChild<QMessageBox*>(); };
    app::TaskView task = *session->monitor().task(id);
    ASSERT_TRUE(waitFor([&] { return button(QStringLiteral("Cancel")) != nullptr; }));
    button(QStringLiteral("Cancel"))->click();
    ASSERT_TRUE(waitFor([&] { return row->task().state == "canceled"; }));
    EXPECT_FALSE(asked()) << "nothing was written yet";
    EXPECT_TRUE(row->task().resumable);
    row->showTask(task);
    ASSERT_TRUE(waitFor([&] { return button(QStringLiteral("Cancel")) != nullptr; }));
    button(QStringLiteral("Cancel"))->click();
    task.state = "canceled";
    task.resumable = true;
    task.doneBytes = 9'600'000'000;
    row->showTask(task);
    ASSERT_TRUE(asked());
    EXPECT_TRUE(asked()->informativeText().contains(QStringLiteral("9.60 GB")))
        << asked()->informativeText().toStdString();
    const QList<QAbstractButton*> choices = asked()->buttons();
    (*std::find_if(choices.begin(), choices.end(), [](const QAbstractButton* choice) {
        return choice->text().contains(QStringLiteral("Delete"));
    }))->click();
    auto* sheet = window->findChild<PlanSheet*>();
    ASSERT_TRUE(sheet) << "nothing is deleted before its plan was shown";
    EXPECT_EQ(sheet->findChild<QLineEdit*>(QStringLiteral("name"))->text(), QStringLiteral("made"));
    sheet->reject();
}

TEST_F(Closing, TheTrayTellsOfTasks)
{
    TaskTally tally(session->bridge());
    const Tray tray(tally);
    EXPECT_EQ(tray.menu().actions().size(), 3);
    EXPECT_FALSE(Tray::isWanted()) << "off unless the user wants it";
    pausedTask();
    EXPECT_TRUE(waitFor([&] { return tray.menu().actions().size() == 5; }));
    EXPECT_TRUE(tray.toolTip().contains(QStringLiteral("1 task")));
    window->actions().trigger(QStringLiteral("view.tray"));
    EXPECT_TRUE(Tray::isWanted());
    Tray::setWanted(false);
}

} // namespace
} // namespace deltascope::desktop
