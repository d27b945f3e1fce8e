#pragma once

#include "bridge/service_bridge.h"

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
    explicit Notifier(ServiceBridge& bridge, QObject* parent = nullptr);

signals:
    /// The user chose to see it: a task (its id) or an alert.
    void taskOpened(const QString& id);
    void alertOpened(const QString& run, std::int64_t step); ///< step is -1 if it is about none

private slots:
    void actionInvoked(uint id, const QString& action);
    void notificationClosed(uint id, uint reason);

private:
    enum class Urgency : uchar { Low, Normal, Critical };
    struct Message {
        QString subject; ///< what it is about; a later one about it replaces it
        QString title;
        QString text;
        QString openText; ///< what the button says
        Urgency urgency = Urgency::Normal;
        std::function<void()> open;
    };
    void takeTask(const app::TaskView& task);
    void takeAlert(const app::AlertChange& change);
    void send(const Message& message);

    QHash<QString, uint> m_idOf; ///< by subject
    QHash<uint, Message> m_shown;
    QHash<QString, QString> m_stateOf; ///< of tasks
    QSystemTrayIcon* m_tray = nullptr;
};

} // namespace deltascope::desktop
