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

signals:
    void countChanged(int running);

private:
    void take(const app::TaskView& task);

    ServiceBridge& m_bridge;
    QVBoxLayout* m_rows;
    QLabel* m_none;
    QHash<QString, TaskRow*> m_rowOf;
};

} // namespace deltascope::desktop
