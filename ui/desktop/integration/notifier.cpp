#include "integration/notifier.h"

#include "bridge/background.h"
#include "deltascope/app/command_line.h"
#include "look/format.h"
#include "session/alert_channels.h"

#include <QApplication>
#include <QClipboard>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDesktopServices>
#include <QSystemTrayIcon>
#include <QUrl>

namespace deltascope::desktop {

namespace {

// Of the Desktop Notifications Specification.
const QString Service = QStringLiteral("org.freedesktop.Notifications");
const QString Path = QStringLiteral("/org/freedesktop/Notifications");
const QString DefaultAction = QStringLiteral("default");
constexpr std::int64_t HourUs = 3600LL * 1'000'000;

}

Notifier::Notifier(ServiceBridge& bridge, QDBusConnection session, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_session(std::move(session))
    , m_sinceUs(ServiceBridge::nowUs())
{
    connect(&bridge, &ServiceBridge::taskMoved, this, &Notifier::takeTask);
    connect(&bridge, &ServiceBridge::alertMoved, this, &Notifier::takeAlert);
    m_session.connect(Service, Path, Service, QStringLiteral("ActionInvoked"), this,
                      SLOT(actionInvoked(uint, QString)));
    m_session.connect(Service, Path, Service, QStringLiteral("NotificationClosed"), this,
                      SLOT(notificationClosed(uint, uint)));
}

void Notifier::takeTask(const app::TaskView& task)
{
    const QString id = QString::fromStdString(task.id);
    const QString state = QString::fromStdString(task.state);
    const QString before = m_stateOf.value(id);
    m_stateOf.insert(id, state);
    const bool isNews = !before.isEmpty() || task.startedUs >= m_sinceUs;
    if (!isNews || before == state || (task.state != "done" && task.state != "failed"))
        return;
    Message message;
    message.subject = QStringLiteral("task/") + id;
    message.title = task.state == "done" ? tr("%1: done").arg(safeName(task.plan.title))
                                         : tr("%1: failed").arg(safeName(task.plan.title));
    message.text = task.problem ? safeName(task.problem->text) : safeName(task.plan.destination);
    message.urgency = task.state == "done" ? Urgency::Low : Urgency::Normal;
    message.actions.push_back({ DefaultAction, tr("Show"), [this, id] { emit taskOpened(id); } });
    if (task.state == "done" && !task.plan.destination.empty())
        addCheckpointActions(message, task);
    if (task.state == "done" && !task.plan.undo.empty())
        message.actions.push_back({ QStringLiteral("undo"), tr("Undo…"),
                                    [this, run = QString::fromStdString(task.plan.run)] { emit undoWanted(run); } });
    send(message);
}

/// What is done with a checkpoint that was just made; a server's folder cannot be opened from here.
void Notifier::addCheckpointActions(Message& message, const app::TaskView& task)
{
    const QString folder = QString::fromStdString(task.plan.destination);
    const auto copies = [](const QString& text) { return [text] { QApplication::clipboard()->setText(text); }; };
    if (m_bridge.server().isEmpty())
        message.actions.push_back({ QStringLiteral("open-folder"), tr("Open folder"),
                                    [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); } });
    message.actions.push_back({ QStringLiteral("copy-path"), tr("Copy path"), copies(folder) });
    const QString serve =
        QStringLiteral("vllm serve ") + QString::fromStdString(app::quotedPath(task.plan.destination));
    message.actions.push_back({ QStringLiteral("copy-serve"), tr("Copy “vllm serve”"), copies(serve) });
    const auto* made = task.result ? std::get_if<std::shared_ptr<const app::MaterializeView>>(&*task.result) : nullptr;
    if (made)
        message.actions.push_back({ QStringLiteral("diff"), tr("Diff with…"),
                                    [this, run = QString::fromStdString(task.plan.run), step = (*made)->step] {
                                        emit diffWanted(run, step);
                                    } });
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
    message.urgency = alert.level == app::AlertLevel::Error ? Urgency::Critical
        : alert.level == app::AlertLevel::Warn              ? Urgency::Normal
                                                            : Urgency::Low;
    message.actions.push_back({ DefaultAction, alert.step ? tr("Open step %1").arg(*alert.step) : tr("Show"),
                                [this, run = QString::fromStdString(alert.run), step = alert.step.value_or(-1)] {
                                    emit alertOpened(run, step);
                                } });
    message.actions.push_back({ QStringLiteral("snooze"), tr("Snooze 1 h"), [this, id = alert.id] {
                                   inBackground(
                                       this,
                                       [&monitor = m_bridge.monitor(), id] {
                                           return monitor.alerts().snooze(id, ServiceBridge::nowUs() + HourUs);
                                       },
                                       [](const auto&) {});
                               } });
    send(message);
}

void Notifier::send(const Message& message)
{
    QDBusMessage call = QDBusMessage::createMethodCall(Service, Path, Service, QStringLiteral("Notify"));
    const QVariantMap hints { { QStringLiteral("urgency"), QVariant::fromValue(static_cast<uchar>(message.urgency)) },
                              { QStringLiteral("desktop-entry"), QApplication::desktopFileName() } };
    QStringList actions;
    for (const Action& action : message.actions)
        actions << action.key << action.text;
    call << QApplication::applicationDisplayName() << m_idOf.value(message.subject, 0)
         << QApplication::desktopFileName() << message.title << message.text.toHtmlEscaped() << actions << hints << -1;
    auto* watcher = new QDBusPendingCallWatcher(m_session.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, message](QDBusPendingCallWatcher* done) {
        done->deleteLater();
        const QDBusPendingReply<uint> reply = *done;
        if (!reply.isValid())
            return showInTray(message);
        m_idOf.insert(message.subject, reply.value());
        m_shown.insert(reply.value(), message);
    });
}

void Notifier::showInTray(const Message& message)
{
    emit fellBack(message.title);
    if (!QSystemTrayIcon::isSystemTrayAvailable() || !QSystemTrayIcon::supportsMessages())
        return; // the window shows it all the same
    if (!m_tray) {
        m_tray = new QSystemTrayIcon(QApplication::windowIcon(), this);
        m_tray->show();
    }
    disconnect(m_tray, &QSystemTrayIcon::messageClicked, nullptr, nullptr);
    connect(m_tray, &QSystemTrayIcon::messageClicked, this, message.actions.front().act);
    m_tray->showMessage(message.title, message.text,
                        message.urgency == Urgency::Critical ? QSystemTrayIcon::Critical
                                                             : QSystemTrayIcon::Information);
}

void Notifier::actionInvoked(uint id, const QString& key)
{
    const Message message = m_shown.value(id);
    for (const Action& action : message.actions) {
        if (action.key == key)
            action.act();
    }
}

void Notifier::notificationClosed(uint id, uint) { m_idOf.remove(m_shown.take(id).subject); }

} // namespace deltascope::desktop
