#include "desktop_fixture.h"

#include "acts/again_sheet.h"
#include "acts/destination.h"
#include "canvas/canvas.h"
#include "help/page_help.h"
#include "pages/pages.h"
#include "window/omnibox.h"
#include "window/open_dialog.h"
#include "window/table_twin.h"
#include "window/task_row.h"
#include "window/tasks_panel.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>

#include <set>

namespace deltascope::desktop {
namespace {

namespace fs = std::filesystem;

class Window : public DesktopFixture {
protected:
    Window() { QSettings().clear(); }

    void press(int key, Qt::KeyboardModifiers with = Qt::NoModifier) const
    {
        QWidget* target = QApplication::focusWidget() ? QApplication::focusWidget() : window.get();
        QTest::keyClick(target, static_cast<Qt::Key>(key), with);
    }
    static void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
    template <class T> static T* dialog()
    {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (auto* found = qobject_cast<T*>(widget); found && found->isVisible())
                return found;
        }
        return nullptr;
    }
    /// As a window manager does with what is on top.
    static void activate(QWidget* widget)
    {
        widget->activateWindow();
        ASSERT_TRUE(waitFor([widget] { return QApplication::activeWindow() == widget; }));
    }
    static std::string shownText(const QWidget* widget)
    {
        QString text;
        for (const QLabel* label : widget->findChildren<QLabel*>()) {
            if (label->isVisible() && !label->text().isEmpty())
                text += label->text() + QLatin1Char('\n');
        }
        return text.toStdString();
    }
    std::optional<app::TaskView> newestTask() const
    {
        const auto tasks = session->monitor().tasks();
        return tasks.empty() ? std::nullopt : std::optional(tasks.front());
    }
    bool taskEnds() const
    {
        return waitFor([this] {
            const auto task = newestTask();
            return task && (task->state == "done" || task->state == "failed" || task->state == "canceled");
        });
    }
};

TEST_F(Window, RewrittenObjectsAreUsedOnlyBehindARefusalAndASecondLook)
{
    const auto buttonOf = [](const QWidget* of, const QString& text) -> QPushButton* {
        for (QPushButton* found : of->findChildren<QPushButton*>()) {
            if (found->text() == text && found->isVisibleTo(of))
                return found;
        }
        return nullptr;
    };
    const QString accept = QStringLiteral("Accept rewritten…");
    open("trl-v1.2");
    ASSERT_TRUE(waitFor([this] { return window->focus().run()->verified.contains({ 0, 13 }); }));
    const std::string key = "deltas/step_000012.safetensors";
    std::string bytes = home.read("trl-v1.2/bucket/" + key);
    bytes.back() ^= 1; // of a value
    home.write("trl-v1.2/bucket/" + key, bytes);
    ASSERT_TRUE(waitFor([this] {
        const auto& verified = window->focus().run()->verified;
        const auto found = verified.find({ 0, 12 });
        return found != verified.end() && found->second.problem;
    }));
    app::MaterializeArgs request;
    request.step = "12";
    request.to = home.path("made");
    const app::PlanView plan = madePlan(window->focus().id().toStdString(), request);
    ASSERT_TRUE(session->monitor().start(plan.id, plan.hash, "desktop"));
    ASSERT_TRUE(taskEnds());
    ASSERT_EQ(newestTask()->problem->code, "DS-REWRITTEN");
    ASSERT_TRUE(waitFor([&] {
        const auto* row = window->findChild<TaskRow*>();
        return row && buttonOf(row, accept);
    }));
    QPushButton* offer = buttonOf(window->findChild<TaskRow*>(), accept);
    EXPECT_TRUE(offer->toolTip().startsWith(QStringLiteral("Use the bytes that are there now")));
    offer->click();
    auto* sheet = window->findChild<AgainSheet*>();
    ASSERT_TRUE(sheet);
    auto* act = sheet->findChild<QPushButton*>(QStringLiteral("act"));
    ASSERT_TRUE(waitFor([act] { return act->isEnabled(); }));
    EXPECT_NE(shownText(sheet).find("rewritten since they were first read"), std::string::npos);
    EXPECT_NE(shownText(sheet).find("Use the bytes that are there now"), std::string::npos);
    act->click();
    ASSERT_TRUE(waitFor([this] { return session->monitor().tasks().size() == 2; }));
    ASSERT_TRUE(taskEnds());
    EXPECT_EQ(newestTask()->state, "done") << (newestTask()->problem ? newestTask()->problem->text : "");
    EXPECT_TRUE(waitFor([&] {
        const auto rows = window->findChildren<TaskRow*>();
        return std::any_of(rows.begin(), rows.end(), [&](const TaskRow* row) {
            return shownText(row).find("rewritten and used: " + key) != std::string::npos;
        });
    }));
}

TEST_F(Window, AComparisonSaysHowItsSidesWereCompared)
{
    const auto textOf = [this](app::DiffView diff) {
        app::TaskView task;
        task.plan.kind = "diff";
        task.state = "done";
        task.result = std::make_shared<const app::DiffView>(std::move(diff));
        TaskRow row(session->bridge());
        row.showTask(task);
        row.show();
        return shownText(&row);
    };
    app::DiffView diff;
    diff.tensorsTotal = 290;
    diff.elementsTotal = 290;
    EXPECT_EQ(textOf(diff).find("⚠"), std::string::npos) << textOf(diff);
    diff.forms = { { "dtypes", "F32", "BF16", 290, "F32 is compared as rounded to BF16" } };
    diff.bytesCompared = 3'000'000;
    diff.seconds = 2;
    EXPECT_NE(textOf(diff).find("0 of 290 tensors differ, 0 of 290 elements, 3.00 MB compared in 2.0 s, 1.50 MB/s"),
              std::string::npos)
        << textOf(diff);
    EXPECT_NE(textOf(diff).find("⚠ F32 is compared as rounded to BF16"), std::string::npos) << textOf(diff);
    diff.tensorsTotal = diff.elementsTotal = 0;
    diff.reshaped = { { "w", "BF16", "F16", { 4 }, { 4 } } };
    EXPECT_NE(textOf(diff).find("each tensor has another dtype or shape in B than in A: nothing was compared"),
              std::string::npos)
        << textOf(diff);
}

TEST_F(Window, ATaskSaysWhichBackendDidItsWork)
{
    app::TaskView task;
    task.plan.kind = "diff";
    task.state = "done";
    task.result = std::make_shared<const app::DiffView>();
    TaskRow row(session->bridge());
    row.show();
    row.showTask(task);
    EXPECT_EQ(shownText(&row).find("engine"), std::string::npos) << "of a server that does not say it";
    task.backend = "avx2";
    row.showTask(task);
    EXPECT_NE(shownText(&row).find("\nengine AVX2\n"), std::string::npos) << shownText(&row);
    task.backend = "avx512";
    row.showTask(task);
    EXPECT_NE(shownText(&row).find("\nengine AVX-512\n"), std::string::npos) << shownText(&row);
    task.backend = "cuda";
    task.deviceBytes = 2'000'000;
    row.showTask(task);
    EXPECT_NE(shownText(&row).find("\nengine CUDA, 2.00 MB on the device\n"), std::string::npos) << shownText(&row);
    task.batchBytes = 3'000'000;
    task.doneBytes = 8'000'000;
    task.seconds = 4;
    row.showTask(task);
    EXPECT_NE(
        shownText(&row).find("\nengine CUDA, 2.00 MB of 3.00 MB in batches on the device, 2.00 MB/s on average\n"),
        std::string::npos)
        << shownText(&row);
}

TEST_F(Window, BeginsWithTheWelcomePage)
{
    EXPECT_TRUE(window->currentPage().isEmpty());
    EXPECT_FALSE(window->page());
    EXPECT_FALSE(window->actions().isEnabled(QStringLiteral("go.heatmap")));
    EXPECT_TRUE(window->actions().isEnabled(QStringLiteral("source.open")));
}

TEST_F(Window, EveryPageOpensOnASoundRun)
{
    open("trl-v2-gap");
    for (const PageInfo& info : pageInfos()) {
        window->showPage(info.id);
        QTest::qWait(200);
        EXPECT_EQ(window->currentPage(), info.id);
        ASSERT_TRUE(window->page()) << info.id.toStdString();
        EXPECT_TRUE(window->page()->isVisible());
    }
}

TEST_F(Window, APageBeginsWithTheFocusOnWhatItShows)
{
    open("trl-v2-gap");
    for (const PageInfo& info : pageInfos()) {
        window->showPage(info.id);
        QTest::qWait(50);
        const QWidget* list = window->page()->mainList();
        const QWidget* canvas = window->page()->canvas();
        const bool shows = (canvas && canvas->isVisible()) || (list && list->isVisible());
        const QWidget* focus = window->page()->focusWidget();
        ASSERT_TRUE(focus) << info.id.toStdString();
        if (shows) {
            EXPECT_TRUE(qobject_cast<const Canvas*>(focus) || focus == list) << info.id.toStdString();
        }
    }
}

TEST_F(Window, WhatIsReadAfterThePageIsShownGetsTheFocus)
{
    window->openSource(golden("trl-v2-gap")); // nothing of it has been read yet
    ASSERT_TRUE(window->page());
    EXPECT_TRUE(window->focusWidget() == window->page());
    ASSERT_TRUE(QTest::qWaitFor([this] { return window->page()->canvas()->isVisible(); }, 10000));
    EXPECT_EQ(window->focusWidget(), window->page()->canvas());

    window->showPage(QStringLiteral("bucket"));
    window->page()->filterField()->setFocus();
    window->showPage(QStringLiteral("live"));
    EXPECT_EQ(window->focusWidget(), window->page()->canvas());
    window->showPage(QStringLiteral("bucket"));
    EXPECT_EQ(window->focusWidget(), window->page()->filterField()) << "where it was";
}

TEST_F(Window, EveryPageOpensOnBrokenRuns)
{
    for (const char* name : { "trl-v2-gap-in-chain", "trl-v2-truncated", "slime-v2-badchecksum", "trl-v2-restart" }) {
        open(name);
        for (const PageInfo& info : pageInfos()) {
            window->showPage(info.id);
            QTest::qWait(120);
        }
    }
}

TEST_F(Window, BFollowsTheNewestStepUntilTheUserMoves)
{
    open("trl-v2-gap");
    const auto newest = window->cursor().b();
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->step, *window->focus().run()->run->latest);
    window->actions().trigger(QStringLiteral("step.previous"));
    EXPECT_LT(window->cursor().b()->step, newest->step);
    EXPECT_FALSE(window->cursor().state().follow);
    window->actions().trigger(QStringLiteral("cursor.follow"));
    EXPECT_EQ(window->cursor().b(), newest);
}

TEST_F(Window, BackAndForwardRestorePageAndCursor)
{
    open("trl-v2-gap");
    window->showPage(QStringLiteral("lineage"));
    const auto b = window->cursor().b();
    QTest::qWait(1100);
    window->showPage(QStringLiteral("bucket"));
    window->cursor().setB({ 0, 3 });
    window->actions().trigger(QStringLiteral("view.back"));
    EXPECT_EQ(window->currentPage().toStdString(), "lineage");
    EXPECT_EQ(window->cursor().b(), b);
    window->actions().trigger(QStringLiteral("view.forward"));
    EXPECT_EQ(window->currentPage().toStdString(), "bucket");
    EXPECT_EQ(window->cursor().b()->step, 3);
}

TEST_F(Window, FromTheKeyboardAloneToACheckpoint)
{
    const app::SourceRequest source = golden("trl-v2-gap");
    activate(window.get());
    press(Qt::Key_O, Qt::ControlModifier);
    ASSERT_TRUE(waitFor([] { return dialog<OpenDialog>() != nullptr; }));
    activate(dialog<OpenDialog>());
    type(QString::fromStdString(source.source.text()));
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([this] { return window->focus().b() != nullptr; }));
    activate(window.get());
    press(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
    ASSERT_TRUE(waitFor([] { return dialog<QDialog>() != nullptr; }));
    auto* sheet = dialog<QDialog>();
    activate(sheet);
    auto* field = sheet->findChild<QLineEdit*>();
    ASSERT_EQ(sheet->focusWidget(), field);
    press(Qt::Key_A, Qt::ControlModifier);
    const std::string target = home.path("made/step_x");
    type(QString::fromStdString(target));
    ASSERT_TRUE(waitFor([sheet] { // until the plan of what was typed is there
        for (const QPushButton* button : sheet->findChildren<QPushButton*>()) {
            if (button->isDefault())
                return button->isEnabled();
        }
        return false;
    })) << shownText(sheet);
    press(Qt::Key_Return);
    ASSERT_TRUE(taskEnds());
    EXPECT_EQ(newestTask()->state, "done");
    EXPECT_TRUE(fs::exists(target + "/deltascope.provenance.json"));
    // A short task can end before the window hears that it began.
    EXPECT_TRUE(
        waitFor([this] { return rememberedFolder(window->focus().run()->source).toStdString() == home.path("made"); }));
}

TEST_F(Window, ARememberedFolderMakesItOneKey)
{
    open("trl-v2-gap");
    rememberFolder(window->focus().run()->source, QString::fromStdString(home.path("made")));
    window->cursor().setB({ 0, 3 });
    activate(window.get());
    press(Qt::Key_M, Qt::ControlModifier);
    ASSERT_TRUE(taskEnds());
    EXPECT_EQ(newestTask()->state, "done");
    EXPECT_TRUE(fs::is_directory(home.path("made/step_000003")));
    press(Qt::Key_M, Qt::ControlModifier); // it is there now: the sheet says so first
    ASSERT_TRUE(waitFor([] { return dialog<QDialog>() != nullptr; }));
    dialog<QDialog>()->reject();
}

/// Two folders of one name are two runs.
TEST_F(Window, AFolderIsRememberedForItsWholeSource)
{
    open("trl-v2-gap");
    const std::string source = window->focus().run()->source;
    const QString made = QString::fromStdString(home.path("made"));
    rememberFolder(source, made);
    EXPECT_EQ(rememberedFolder(source), made);
    const std::string other = "file:///elsewhere/" + source.substr(source.rfind('/') + 1);
    EXPECT_TRUE(rememberedFolder(other).isEmpty());
    rememberFolder(other, made + QStringLiteral("/other"));
    EXPECT_EQ(rememberedFolder(source), made);
    rememberFolder(source, {});
    EXPECT_TRUE(rememberedFolder(source).isEmpty());
}

TEST_F(Window, ARememberedFolderThatHoldsAnotherRunIsAskedAbout)
{
    open("trl-v2-gap");
    rememberFolder(window->focus().run()->source, QString::fromStdString(home.path("made")));
    fs::create_directories(home.path("made/step_000001"));
    home.write("made/step_000001/deltascope.provenance.json", R"({"source": "file:///data/other"})");
    window->cursor().setB({ 0, 3 });
    activate(window.get());
    press(Qt::Key_M, Qt::ControlModifier);
    ASSERT_TRUE(waitFor([] { return dialog<QDialog>() != nullptr; }));
    EXPECT_TRUE(waitFor(
        [] { return shownText(dialog<QDialog>()).find("another run: file:///data/other") != std::string::npos; }));
    dialog<QDialog>()->reject();
    EXPECT_FALSE(newestTask());
    EXPECT_FALSE(fs::exists(home.path("made/step_000003")));
}

TEST_F(Window, ALostStepCannotBeMaterialized)
{
    open("trl-v2-gap-in-chain");
    std::optional<StepId> lost;
    for (const app::StepView& step : window->focus().run()->run->epochs.back().steps) {
        if (step.state != "gap" && !step.restorable)
            lost = StepId { step.epoch, step.step };
    }
    ASSERT_TRUE(lost);
    window->cursor().setB(*lost);
    EXPECT_FALSE(window->actions().isEnabled(QStringLiteral("run.materialize")));
    EXPECT_TRUE(window->actions().isEnabled(QStringLiteral("run.materializeOptions")))
        << "the sheet says why and offers the way across";
}

TEST_F(Window, AFolderThatGoesAwayIsSaidAndWhatWasSeenStays)
{
    const app::SourceRequest source = golden("trl-v2-gap");
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] { return window->focus().b() != nullptr; }));
    fs::remove_all(source.source.text());
    EXPECT_TRUE(waitFor([this] {
        return window->focus().run()->error.has_value() || !window->focus().run()->run->problems.empty()
            || !window->focus().run()->run->events.empty();
    }));
    EXPECT_TRUE(window->focus().run()->run) << "the last good view is kept";
}

TEST_F(Window, AnEmptyFolderIsNoError)
{
    fs::create_directories(home.path("empty"));
    app::SourceRequest source;
    source.source = home.path("empty");
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] {
        const RunPointer& run = window->focus().run();
        return run && (run->run || run->error);
    }));
    window->showPage(QStringLiteral("live"));
    QTest::qWait(200);
    EXPECT_NE(shownText(window->page()).find("othing"), std::string::npos) << shownText(window->page());
}

TEST_F(Window, TheWallScreenHasBigTypeAndTheOthersHaveNot)
{
    open("trl-v2-gap");
    window->showPage(QStringLiteral("live"));
    const auto sizes = [this] {
        QList<int> found;
        for (const QLabel* label : window->page()->findChildren<QLabel*>())
            found += label->fontInfo().pixelSize();
        return found;
    };
    const QList<int> usual = sizes();
    window->applyLayout(MainWindow::Layout::WallScreen);
    const QList<int> big = sizes();
    ASSERT_EQ(big.size(), usual.size());
    for (int i = 0; i < big.size(); ++i)
        EXPECT_GT(big[i], usual[i]) << i;
    window->applyLayout(MainWindow::Layout::Watch);
    EXPECT_EQ(sizes(), usual);
}

TEST_F(Window, EveryActHasAKeyPath)
{
    open("trl-v2-gap");
    std::set<QString> ids;
    for (const ActionSpec& spec : window->actions().specs()) {
        EXPECT_TRUE(ids.insert(spec.id).second) << spec.id.toStdString();
        EXPECT_FALSE(spec.text.isEmpty()) << spec.id.toStdString();
        const bool inMenu = !spec.menu.isEmpty();
        EXPECT_TRUE(inMenu || !window->actions().shortcutOf(spec.id).isEmpty()) << spec.id.toStdString();
    }
    std::set<QString> keys; // no two acts on one
    for (const ActionSpec& spec : window->actions().specs()) {
        const QString key = window->actions().shortcutOf(spec.id).toString();
        if (!key.isEmpty()) {
            EXPECT_TRUE(keys.insert(key).second) << spec.id.toStdString() << " " << key.toStdString();
        }
    }
}

TEST_F(Window, ItsKeysWorkInWhatStandsBesideIt)
{
    open("trl-v2-gap");
    window->showPage(QStringLiteral("heatmap"));
    window->actions().trigger(QStringLiteral("help.page"));
    auto* help = dialog<PageHelp>();
    ASSERT_TRUE(help);
    EXPECT_FALSE(help->isModal());
    activate(help);
    press(Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window->currentPage(), QStringLiteral("lineage"));
    window->actions().trigger(QStringLiteral("help.page"));
    EXPECT_FALSE(help->isVisible()) << "only the newest stays";
    ASSERT_TRUE(dialog<PageHelp>());
    window->showPage(QStringLiteral("heatmap"));
    window->actions().trigger(QStringLiteral("view.table"));
    auto* twin = dialog<TableTwin>();
    ASSERT_TRUE(twin);
    activate(twin);
    press(Qt::Key_Q, Qt::ControlModifier);
    EXPECT_FALSE(window->isVisible());
}

TEST_F(Window, WhateverTakesTheFocusHasAName)
{
    open("trl-v2-gap");
    for (const PageInfo& info : pageInfos()) {
        window->showPage(info.id);
        QTest::qWait(150);
        for (const QWidget* widget : window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0)
                continue;
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            if (qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()))
                continue; // the field in it is part of it
            const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
            EXPECT_TRUE(named) << info.id.toStdString() << ": " << widget->metaObject()->className() << " in "
                               << (widget->parentWidget() ? widget->parentWidget()->metaObject()->className() : "");
        }
    }
}

TEST_F(Window, TheOmniboxFindsStepsTensorsAndCommands)
{
    open("trl-v2-gap");
    activate(window.get());
    press(Qt::Key_K, Qt::ControlModifier);
    ASSERT_TRUE(waitFor([] { return dialog<Omnibox>() != nullptr; }));
    auto* box = dialog<Omnibox>();
    auto* list = box->findChild<QListWidget*>();
    QTest::keyClicks(box->findChild<QLineEdit*>(), QStringLiteral("3"));
    ASSERT_GT(list->count(), 0);
    EXPECT_TRUE(list->item(0)->text().contains(QStringLiteral("Step 3")));
    QTest::keyClick(box->findChild<QLineEdit*>(), Qt::Key_Return);
    EXPECT_EQ(window->cursor().b()->step, 3);
}

TEST(FuzzyScore, PrefersWhatBeginsWords)
{
    EXPECT_EQ(fuzzyScore(QStringLiteral("Heatmap"), QStringLiteral("zz")), 0);
    EXPECT_GT(fuzzyScore(QStringLiteral("Heatmap"), QStringLiteral("heat")), 0);
    EXPECT_GT(fuzzyScore(QStringLiteral("Verify B…"), QStringLiteral("ver")),
              fuzzyScore(QStringLiteral("Layout: Wall screen, overview"), QStringLiteral("ver")));
}

TEST_F(Window, TheSmallestWindowClipsNoBar)
{
    open("trl-v2-gap");
    window->resize(1024, 640);
    QTest::qWait(100);
    EXPECT_EQ(window->width(), 1024);
    EXPECT_EQ(window->height(), 640);
    for (const PageInfo& info : pageInfos()) {
        window->showPage(info.id);
        QTest::qWait(50);
        EXPECT_EQ(window->width(), 1024) << info.id.toStdString() << " asks for more room";
        EXPECT_EQ(window->height(), 640) << info.id.toStdString();
    }
}

}
} // namespace deltascope::desktop
