#include "integration/suspend_guard.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>

namespace deltascope::desktop {

SuspendGuard::SuspendGuard(TaskTally& tally, QDBusConnection system, QObject* parent)
    : QObject(parent)
    , m_tally(tally)
    , m_system(std::move(system))
{
    connect(&tally, &TaskTally::changed, this, &SuspendGuard::update);
    update();
}

void SuspendGuard::update()
{
    const bool wanted = m_tally.running() > 0;
    if (wanted == m_asked)
        return;
    m_asked = wanted;
    if (wanted)
        ask();
    else
        m_lock = {};
}

void SuspendGuard::ask()
{
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.login1"), QStringLiteral("/org/freedesktop/login1"),
        QStringLiteral("org.freedesktop.login1.Manager"), QStringLiteral("Inhibit"));
    call << QStringLiteral("sleep:idle") << QStringLiteral("Deltascope") << tr("Tasks are running")
         << QStringLiteral("block");
    auto* watcher = new QDBusPendingCallWatcher(m_system.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* done) {
        done->deleteLater();
        const QDBusPendingReply<QDBusUnixFileDescriptor> reply = *done;
        if (reply.isValid() && m_asked)
            m_lock = reply.value();
    });
}

} // namespace deltascope::desktop
