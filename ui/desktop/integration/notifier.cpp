#include "integration/notifier.h"

#include "look/format.h"
#include "session/alert_channels.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusInterface>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusReply>
#include <QSystemTrayIcon>

namespace deltascope::desktop {

namespace {

const QString Service = QStringLiteral("org.freedesktop.Notifications");
const QString Path = QStringLiteral("/org/freedesktop/Notifications");
const QString OpenAction = QStringLiteral("default");

}

Notifier::Notifier(ServiceBridge& bridge, QObject* parent)
    : QObject(parent)
{
    connect(&bridge, &ServiceBridge::taskMoved, this, &Notifier::takeTask);
    connect(&bridge, &ServiceBridge::alertMoved, this, &Notifier::takeAlert);
    QDBusConnection bus = QDBusConnection::sessionBus();
    bus.connect(Service, Path, Service, QStringLiteral("ActionInvoked"), this, SLOT(actionInvoked(uint, QString)));
    bus.connect(Service, Path, Service, QStringLiteral("NotificationClosed"), this,
                SLOT(notificationClosed(uint, uint)));
}

void Notifier::takeTask(const app::TaskView& task)
{
    const QString id = QString::fromStdString(task.id);
    const QString state = QString::fromStdString(task.state);
    const QString before = m_stateOf.value(id);
    m_stateOf.insert(id, state);
    if (before == state || (task.state != "done" && task.state != "failed"))
        return;
    Message message;
    message.subject = QStringLiteral("task/") + id;
    message.title = task.state == "done" ? tr("%1: done").arg(safeName(task.plan.title))
                                         : tr("%1: failed").arg(safeName(task.plan.title));
    message.text = task.problem ? safeName(task.problem->text) : safeName(task.plan.destination);
    message.openText = tr("Show");
    message.urgency = task.state == "done" ? Urgency::Low : Urgency::Normal;
    message.open = [this, id] { emit taskOpened(id); };
    send(message);
}

void Notifier::takeAlert(const app::AlertChange& change)
{
    const std::optional<app::AlertLevel> lowest = desktopLevel();
    if (!change.notify || change.kind == app::AlertChange::Kind::Cleared || !lowest || change.alert.level < *lowest)
        return;
    const app::AlertView& alert = change.alert;
    Message message;
    message.subject = QStringLiteral("alert/") + QString::fromStdString(alert.id);
    message.title = safeName(alert.title);
    message.text = safeName(alert.text) + QStringLiteral("\n") + safeName(alert.remedy);
    message.openText = alert.step ? tr("Open step %1").arg(*alert.step) : tr("Show");
    message.urgency = alert.level == app::AlertLevel::Error ? Urgency::Critical
        : alert.level == app::AlertLevel::Warn              ? Urgency::Normal
                                                            : Urgency::Low;
    message.open = [this, run = QString::fromStdString(alert.run), step = alert.step.value_or(-1)] {
        emit alertOpened(run, step);
    };
    send(message);
}

void Notifier::send(const Message& message)
{
    QDBusMessage call = QDBusMessage::createMethodCall(Service, Path, Service, QStringLiteral("Notify"));
    const QVariantMap hints { { QStringLiteral("urgency"), QVariant::fromValue(static_cast<uchar>(message.urgency)) },
                              { QStringLiteral("desktop-entry"), QApplication::desktopFileName() } };
    call << QApplication::applicationDisplayName() << m_idOf.value(message.subject, 0)
         << QApplication::desktopFileName() << message.title << message.text.toHtmlEscaped()
         << QStringList { OpenAction, message.openText } << hints << -1;
    const QDBusPendingCall pending = QDBusConnection::sessionBus().asyncCall(call);
    auto* watcher = new QDBusPendingCallWatcher(pending, this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, message](QDBusPendingCallWatcher* done) {
        done->deleteLater();
        const QDBusPendingReply<uint> reply = *done;
        if (reply.isValid()) {
            m_idOf.insert(message.subject, reply.value());
            m_shown.insert(reply.value(), message);
            return;
        }
        if (!QSystemTrayIcon::isSystemTrayAvailable() || !QSystemTrayIcon::supportsMessages())
            return; // the window shows it all the same
        if (!m_tray) {
            m_tray = new QSystemTrayIcon(QApplication::windowIcon(), this);
            m_tray->show();
        }
        m_tray->showMessage(message.title, message.text,
                            message.urgency == Urgency::Critical ? QSystemTrayIcon::Critical
                                                                 : QSystemTrayIcon::Information);
    });
}

void Notifier::actionInvoked(uint id, const QString& action)
{
    if (action == OpenAction && m_shown.contains(id))
        m_shown.value(id).open();
}

void Notifier::notificationClosed(uint id, uint) { m_idOf.remove(m_shown.take(id).subject); }

} // namespace deltascope::desktop
