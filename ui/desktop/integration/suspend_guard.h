#pragma once

#include "integration/task_tally.h"

#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>

namespace deltascope::desktop {

/// Keeps the machine from falling asleep while tasks are at work: over logind's inhibitor locks
/// (https://systemd.io/INHIBITOR_LOCKS/), silently without where there is none. GUI thread.
class SuspendGuard final : public QObject {
    Q_OBJECT

public:
    explicit SuspendGuard(TaskTally& tally, QDBusConnection system = QDBusConnection::systemBus(),
                          QObject* parent = nullptr);

private:
    void update();
    void ask();

    TaskTally& m_tally;
    QDBusConnection m_system;
    bool m_asked = false; ///< since tasks are at work
    QDBusUnixFileDescriptor m_lock; ///< held as long as it is open
};

} // namespace deltascope::desktop
