#pragma once

#include "integration/task_tally.h"

#include <QObject>

#include <memory>

class QMenu;
class QSystemTrayIcon;

namespace deltascope::desktop {

/// The icon in the tray, where the user wants one: a dot while tasks are at work, and which. GUI thread.
class Tray final : public QObject {
    Q_OBJECT

public:
    explicit Tray(TaskTally& tally, QObject* parent = nullptr);
    ~Tray() override;

    /// The user's choice, kept in the settings.
    static bool isWanted() { return wanted(); }
    static void setWanted(bool on);

    /// Shows or hides it as the user wants. Whether it can be seen.
    bool refresh();
    const QMenu& menu() const { return *m_menu; }
    QString toolTip() const;

signals:
    void windowWanted();
    void tasksWanted();
    void quitWanted();

private:
    static bool& wanted();
    void showTasks();

    TaskTally& m_tally;
    std::unique_ptr<QMenu> m_menu;
    QSystemTrayIcon* m_icon;
    int m_shown = -1; ///< tasks that the icon tells of
};

} // namespace deltascope::desktop
