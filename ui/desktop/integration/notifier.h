#pragma once

#include "bridge/service_bridge.h"

#include <QDBusConnection>
#include <QHash>
#include <QObject>

class QSystemTrayIcon;

namespace deltascope::desktop {

/// Tells the user of the desktop, beside the window, what ended and what fired: over org.freedesktop.Notifications
/// (freedesktop.org Desktop Notifications Specification 1.2), else by the tray. A newer message about the same thing
/// takes the place of the older one. GUI thread.
class Notifier final : public QObject {
    Q_OBJECT

public:
    explicit Notifier(ServiceBridge& bridge, QDBusConnection session = QDBusConnection::sessionBus(),
                      QObject* parent = nullptr);

signals:
    /// The user chose to see it: a task (its id) or an alert.
    void taskOpened(const QString& id);
    void alertOpened(const QString& run, std::int64_t step); ///< step is -1 if it is about none
    /// The user wants to compare the checkpoint that was made of this step.
    void diffWanted(const QString& run, std::int64_t step);
    /// The user wants to take back what was done to this run last.
    void undoWanted(const QString& run);
    /// No server of notifications answered, so the tray is asked to show it.
    void fellBack(const QString& title);

private slots:
    void actionInvoked(uint id, const QString& action);
    void notificationClosed(uint id, uint reason);

private:
    enum class Urgency : uchar { Low, Normal, Critical };
    struct Action {
        QString key;
        QString text; ///< what the button says
        std::function<void()> act;
    };
    struct Message {
        QString subject; ///< what it is about; a later one about it replaces it
        QString title;
        QString text;
        Urgency urgency = Urgency::Normal;
        std::vector<Action> actions; ///< the first one is that of a click on the message
    };
    void takeTask(const app::TaskView& task);
    void takeAlert(const app::AlertChange& change);
    void send(const Message& message);
    void showInTray(const Message& message);
    void addCheckpointActions(Message& message, const app::TaskView& task);

    ServiceBridge& m_bridge;
    QDBusConnection m_session;
    const std::int64_t m_sinceUs; ///< tasks of an earlier start are no news
    QHash<QString, uint> m_idOf; ///< by subject
    QHash<uint, Message> m_shown;
    QHash<QString, QString> m_stateOf; ///< of tasks
    QSystemTrayIcon* m_tray = nullptr;
};

} // namespace deltascope::desktop
