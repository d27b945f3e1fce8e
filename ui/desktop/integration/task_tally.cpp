#include "integration/task_tally.h"

#include <algorithm>

namespace deltascope::desktop {

TaskTally::TaskTally(ServiceBridge& bridge, QObject* parent)
    : QObject(parent)
{
    connect(&bridge, &ServiceBridge::taskMoved, this, &TaskTally::take);
    for (const app::TaskView& task : bridge.monitor().tasks())
        take(task);
}

void TaskTally::take(const app::TaskView& task)
{
    const QString id = QString::fromStdString(task.id);
    if (isAtWork(task))
        m_tasks.insert(id, task);
    else if (m_tasks.remove(id) == 0)
        return;
    emit changed();
}

/// Every task weighs the same: bytes of different phases cannot be added.
double TaskTally::share() const
{
    double sum = 0;
    for (const app::TaskView& task : m_tasks) {
        if (task.totalBytes > 0)
            sum += std::min(1.0, static_cast<double>(task.doneBytes) / static_cast<double>(task.totalBytes));
    }
    return m_tasks.isEmpty() ? 0 : sum / static_cast<double>(m_tasks.size());
}

} // namespace deltascope::desktop
