#pragma once

#include "actions/action_registry.h"
#include "integration/link.h"
#include "pages/page.h"
#include "session/session.h"
#include "state/run_focus.h"
#include "state/step_cursor.h"
#include "window/view_history.h"

#include <QHash>
#include <QMainWindow>

class QUndoStack;

namespace deltascope::desktop {

class ActivityBar;
class BottomDock;
class CoachMarks;
class DemoStrip;
class Inspector;
class Notifier;
class PageStack;
class Scrubber;
class WelcomePage;

/// The window: pages in the middle, the cursor above them, the inspector beside and tasks below them. One per
/// process is usual, more are possible: each has its own run and cursor. GUI thread.
class MainWindow final : public QMainWindow {
    Q_OBJECT

public:
    /// `session` outlives it.
    explicit MainWindow(Session& session, QWidget* parent = nullptr);
    ~MainWindow() override;

    ActionRegistry& actions() { return *m_actions; }
    StepCursor& cursor() { return *m_cursor; }
    RunFocus& focus() { return *m_focus; }
    Session& session() { return m_session; }
    DemoStrip& demoStrip() { return *m_demoStrip; }
    CoachMarks& hints() { return *m_hints; }

    void openSource(const app::SourceRequest& request);
    void openDemo(double rate = 1); ///< `rate`: steps per second
    void showRun(const QString& id); ///< empty: the welcome page
    void showPage(const QString& id); ///< of pages/pages.h
    QString currentPage() const { return m_page; } ///< empty: the welcome page
    Page* page() const; ///< the visible one; null: the welcome page

    void openLink(const Link& link);
    void askForSource(const QString& source = {}); ///< with a look at what it is
    void askForBundle();
    void showTasks();
    void followNotes(Notifier& notifier); ///< shows what the user chooses in them
    void comeBack(); ///< shows a hidden window and brings it to the front
    /// Whether something brings a hidden window back: without, tasks never go on behind the user's back.
    void setReachable(bool reachable) { m_reachable = reachable; }

    enum class Layout { Watch, Investigate, WallScreen };
    void applyLayout(Layout layout);

signals:
    void serverWanted(); ///< the user wants to connect to one
    void bundleWanted(const QString& file); ///< the user wants to see one
    void closed(); ///< for good: it is of no use any more
    void trayChosen(); ///< the user wants the icon in the tray, or no longer

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    // window/main_actions.cpp
    void addActions();
    void addSourceActions();
    void addPageActions();
    void addCursorActions();
    void addViewActions();
    void addRunActions();
    void makeMenus();
    // window/main_change_acts.cpp
    void addChangeActions();
    void rollBack();
    void undoRollBack(const QString& run);
    void changeRun(const std::string& kind);
    void openActSheet(const RunPointer& run, const std::string& kind, const app::ActArgs& known);
    void discardLeftBy(const app::TaskView& task);
    // window/main_guide.cpp
    void addGuideActions();
    void makeGuide();

    // window/main_desktop.cpp
    void addDesktopActions();
    void goToLink();
    void showStep(const QString& run, std::int64_t step); ///< step -1: the run as it is
    // window/main_closing.cpp
    void askAboutTasks(int running);
    void goOnInBackground();
    void pauseTasks();
    void pauseAndQuit();
    void endInBackground();

    void makeBars();
    void makeDocks();
    void makePages();
    void keepLayout() const;
    void showInterrupted();
    void planAgain(const app::TaskView& task);
    void planAccepting(const app::TaskView& task);
    void showTitle();
    void visit();
    void materialize(bool ask);
    void verify();
    void exportPage();
    void showTwin();
    void copyAddress();
    void showFiles();
    bool mayAct() const; ///< not where a bundle recorded the run
    void setLook(int appearance, int density);
    QString versionAddress() const; ///< "SOURCE@EPOCH:STEP" of B
    QString
    commandOnB(const QString& command) const; ///< "deltascope COMMAND SOURCE@EPOCH:STEP" with options of the source
    void say(const QString& text); ///< in the status line and the log

    Session& m_session;
    StepCursor* m_cursor;
    RunFocus* m_focus;
    QUndoStack* m_viewUndo;
    ViewHistory* m_history;
    ActionRegistry* m_actions;
    PageContext m_context;
    PageStack* m_pages;
    WelcomePage* m_welcome = nullptr;
    DemoStrip* m_demoStrip = nullptr;
    CoachMarks* m_hints = nullptr;
    QHash<QString, Page*> m_pageOf; ///< by id
    QString m_page;
    ActivityBar* m_activity = nullptr;
    Scrubber* m_scrubber = nullptr;
    Inspector* m_inspector = nullptr;
    BottomDock* m_bottom = nullptr;
    std::optional<Link> m_link; ///< whose run is not open yet
    bool m_reachable = false;
    bool m_inBackground = false; ///< hidden until the tasks are done
    bool m_leaves = false; ///< closes without a question
};

} // namespace deltascope::desktop
