#pragma once

#include "bridge/service_bridge.h"

#include <QHash>
#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace deltascope::desktop {

class TaskRow;

/// Acts on their way and those that ended, newest first: phase, progress, rate, time left, and what can be done about
/// each.
class TasksPanel final : public QWidget {
    Q_OBJECT

public:
    explicit TasksPanel(ServiceBridge& bridge, QWidget* parent = nullptr);
    int runningTasks() const;
    bool hasInterrupted() const; ///< tasks that a program left when it ended

signals:
    void countChanged(int running);
    void interruptedFound();
    void planWanted(const deltascope::app::TaskView& task);
    void acceptWanted(const deltascope::app::TaskView& task);
    void discardWanted(const deltascope::app::TaskView& task);
    void undoWanted(const QString& run);

private:
    void take(const app::TaskView& task);
    void offerUndo();
    int placeOf(const app::TaskView& task) const;

    ServiceBridge& m_bridge;
    QVBoxLayout* m_rows;
    QLabel* m_none;
    QHash<QString, TaskRow*> m_rowOf;
};

} // namespace deltascope::desktop
