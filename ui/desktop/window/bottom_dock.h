#pragma once

#include "pages/page.h"

#include <QDockWidget>

class QListWidget;
class QTabWidget;

namespace deltascope::desktop {

class TasksPanel;

/// Tasks, alerts and what happened, in tabs below the page.
class BottomDock final : public QDockWidget {
    Q_OBJECT

public:
    explicit BottomDock(PageContext& context, QWidget* parent = nullptr);

    TasksPanel& tasks() { return *m_tasks; }
    void showTasks(); ///< opens the dock
    void log(const QString& text);

private:
    void takeAlert(const app::AlertChange& change);
    void titleTabs();

    PageContext& m_context;
    QTabWidget* m_tabs;
    TasksPanel* m_tasks;
    QListWidget* m_alerts;
    QListWidget* m_log;
};

} // namespace deltascope::desktop
