#pragma once

#include "bridge/service_bridge.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace deltascope::desktop {

/// One task on one line of 40 px. Progress never moves back, and no time is left at "0 s" while there is work.
class TaskRow final : public QFrame {
    Q_OBJECT

public:
    explicit TaskRow(ServiceBridge& bridge, QWidget* parent = nullptr);
    void showTask(const app::TaskView& task);
    const app::TaskView& task() const { return m_task; }
    bool canBeUndone() const; ///< it is done, and there is an act that takes it back
    void offerUndo(bool offered);

signals:
    void planWanted(); ///< the old one holds no longer
    void acceptWanted(); ///< the same with rewritten objects
    void discardWanted(); ///< what it left
    void undoWanted();

private:
    QString progressText() const;
    QString backendText() const; ///< what the backend did not do as asked, a line each; empty: nothing
    QString resultText() const;
    QString notKeptText() const;
    void act(ServiceBridge::Steer how);
    void openFolder();
    void askForPartial();

    ServiceBridge& m_bridge;
    app::TaskView m_task;
    bool m_canceledHere = false; ///< what is left behind is asked for at the end
    mutable double m_shownLeft = -1; ///< seconds; small changes of a guess are not shown
    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_phase;
    QProgressBar* m_bar;
    QLabel* m_numbers;
    QPushButton* m_pause;
    QPushButton* m_resume;
    QPushButton* m_cancel;
    QPushButton* m_discard;
    QPushButton* m_again;
    QPushButton* m_accept;
    QPushButton* m_undo;
    QPushButton* m_open;
    QPushButton* m_copy;
};

} // namespace deltascope::desktop
