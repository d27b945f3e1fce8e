#pragma once

#include "integration/task_tally.h"

#include <QDBusConnection>

namespace deltascope::desktop {

/// Progress and number of tasks on the program's entry in the task bar, where it listens to
/// com.canonical.Unity.LauncherEntry (https://wiki.ubuntu.com/Unity/LauncherAPI). GUI thread.
class LauncherEntry final : public QObject {
    Q_OBJECT

public:
    explicit LauncherEntry(TaskTally& tally, QDBusConnection session = QDBusConnection::sessionBus(),
                           QObject* parent = nullptr);

private:
    void send();

    TaskTally& m_tally;
    QDBusConnection m_session;
    int m_running = 0; ///< as it was sent
    int m_percent = 0;
};

} // namespace deltascope::desktop
