#pragma once

#include "deltascope/app/bundle.h"
#include "deltascope/app/remote.h"

#include "bridge/service_bridge.h"
#include "session/demo_run.h"

#include <QHash>
#include <QObject>

#include <memory>

namespace deltascope::desktop {

/// What the user watches, with the engine inside this process, with a server elsewhere, or as a bundle recorded it:
/// opens and forgets sources, keeps the list of recent ones. GUI thread.
class Session final : public QObject {
    Q_OBJECT

public:
    /// Errors: those of app::Service::create.
    static Result<std::unique_ptr<Session>> create();
    /// The runs of a server; no other sources and no demo.
    static std::unique_ptr<Session> of(std::unique_ptr<app::RemoteServer> server);
    /// The run of a bundle, and nothing else.
    static std::unique_ptr<Session> of(std::unique_ptr<app::OpenedBundle> bundle);
    ~Session() override;

    /// The file that a source is if it is a bundle, which has a session of its own; else empty.
    static QString bundleFile(const std::string& source);

    bool isRemote() const { return !m_service; } ///< nothing is read or written by this process
    bool isRecorded() const { return m_bundle != nullptr; }
    void tryAgain(); ///< where contact with the server is lost
    app::Service& service() { return m_bridge->service(); }
    app::Monitor& monitor() { return m_bridge->monitor(); }
    ServiceBridge& bridge() { return *m_bridge; }

    /// Follows a source and returns the id of its run; one that is followed already is not followed twice.
    QString openSource(const app::SourceRequest& request);
    DemoRun& demo() { return *m_demo; }

    struct Recent {
        QString source;
        QString base;
        QString run;
        std::int64_t latest = -1; ///< -1: not known
        std::int64_t seenUs = 0;
    };
    std::vector<Recent> recents() const; ///< newest first
    void forgetRecent(const QString& source);

signals:
    void recentsChanged();

private:
    Session(std::unique_ptr<app::Service> service, std::unique_ptr<app::Monitor> monitor);
    explicit Session(std::unique_ptr<app::RemoteServer> server);
    explicit Session(std::unique_ptr<app::OpenedBundle> bundle);
    void remember(const Recent& recent);

    std::unique_ptr<app::RemoteServer> m_server; ///< or the next, or the two behind it
    std::unique_ptr<app::OpenedBundle> m_bundle;
    std::unique_ptr<app::Service> m_service;
    std::unique_ptr<app::Monitor> m_monitor;
    std::unique_ptr<ServiceBridge> m_bridge;
    QHash<QString, QString> m_idOfSource;
    std::unique_ptr<DemoRun> m_demo;
};

} // namespace deltascope::desktop
