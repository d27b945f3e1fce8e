#pragma once

#include "integration/notifier.h"
#include "session/session.h"
#include "window/main_window.h"

#include <QObject>

#include <memory>
#include <vector>

namespace deltascope::desktop {

/// The windows that show runs of servers and of bundles, each with a session of its own. GUI thread.
class ServerWindows final : public QObject {
    Q_OBJECT

public:
    /// Asks which server, over `parent` if there is one. With an address and a secret it connects at once, unless
    /// others could read along.
    void ask(QWidget* parent, const QString& address = {}, const QString& secret = {});
    /// A window for a server that answers.
    MainWindow& open(std::unique_ptr<app::RemoteServer> server);
    /// A window for a bundle, once it is read; says over `parent`, if there is one, why it cannot be.
    void openBundle(QWidget* parent, const QString& file);
    std::size_t count() const { return m_windows.size(); }

private:
    struct Shown {
        std::unique_ptr<Session> session;
        std::unique_ptr<MainWindow> window;
        std::unique_ptr<Notifier> notifier;
    };
    MainWindow& show(std::unique_ptr<Session> session);
    void forget(const MainWindow* window);

    std::vector<Shown> m_windows;
};

} // namespace deltascope::desktop
