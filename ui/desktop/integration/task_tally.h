#pragma once

#include "bridge/service_bridge.h"

#include <QHash>
#include <QObject>

namespace deltascope::desktop {

/// Tasks at work, for what the desktop shows and does while there are some. GUI thread.
class TaskTally final : public QObject {
    Q_OBJECT

public:
    explicit TaskTally(ServiceBridge& bridge, QObject* parent = nullptr);

    QList<app::TaskView> tasks() const { return m_tasks.values(); }
    int running() const { return static_cast<int>(m_tasks.size()); }
    double share() const; ///< of all their work that is done, 0 to 1

signals:
    void changed();

private:
    void take(const app::TaskView& task);

    QHash<QString, app::TaskView> m_tasks; ///< by id
};

} // namespace deltascope::desktop
