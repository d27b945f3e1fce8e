#pragma once

#include "deltascope/app/remote.h"

#include <QDialog>

#include <functional>
#include <memory>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace deltascope::desktop {

/// Asks for a server and signs in. What was printed by a server at start may be pasted as it is. Remembers addresses,
/// never secrets.
class ConnectDialog final : public QDialog {
    Q_OBJECT

public:
    using Connected = std::function<void(std::unique_ptr<app::RemoteServer>)>;
    explicit ConnectDialog(Connected connected, QWidget* parent = nullptr);

    void setAddress(const QString& address);
    void setSecret(const QString& secret);
    void connectNow();
    void connectIfSafe(); ///< and if there is a secret; else the user is asked

    static QStringList knownServers(); ///< newest first

private:
    using Outcome = Result<std::unique_ptr<app::RemoteServer>>;

    void look(); ///< at the address as far as it is typed
    void takeOutcome(Outcome outcome);
    void say(const QString& text, const char* role);
    void setBusy(bool busy);

    Connected m_connected;
    QComboBox* m_address;
    QLineEdit* m_secret;
    QLabel* m_found;
    QPushButton* m_connect;
    bool m_busy = false;
};

} // namespace deltascope::desktop
