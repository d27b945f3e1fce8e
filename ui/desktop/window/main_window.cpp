#include "window/main_window.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/pages.h"
#include "window/activity_bar.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <QUndoStack>

namespace deltascope::desktop {

MainWindow::MainWindow(Session& session, QWidget* parent)
    : QMainWindow(parent)
    , m_session(session)
    , m_cursor(new StepCursor(this))
    , m_focus(new RunFocus(session.bridge(), *m_cursor, this))
    , m_viewUndo(new QUndoStack(this))
    , m_history(new ViewHistory(this))
    , m_actions(new ActionRegistry(this))
    , m_context { session.bridge(), *m_cursor, *m_focus, *m_actions, *m_viewUndo }
    , m_pages(new QStackedWidget)
{
    setObjectName(QStringLiteral("MainWindow"));
    setMinimumSize(1024, 640);
    addActions();
    makeMenus();
    makeBars();
    makeDocks();
    connect(m_focus, &RunFocus::opened, this, [this] {
        m_viewUndo->clear();
        setWindowTitle(m_focus->run() ? tr("%1 – Deltascope").arg(safeName(m_focus->run()->name))
                                      : QStringLiteral("Deltascope"));
        m_actions->refresh();
    });
    connect(m_focus, &RunFocus::moved, m_actions, &ActionRegistry::refresh);
    connect(m_cursor, &StepCursor::changed, this, [this] {
        m_actions->refresh();
        visit();
    });
    connect(m_history, &ViewHistory::goTo, this, [this](const ViewHistory::Place& place) {
        showPage(place.page);
        m_cursor->set(place.cursor);
    });
    setWindowTitle(QStringLiteral("Deltascope"));
    showRun({});
}

MainWindow::~MainWindow() = default;

} // namespace deltascope::desktop
