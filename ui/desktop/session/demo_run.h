#pragma once

#include "bridge/service_bridge.h"

#include <QObject>
#include <QString>

#include <functional>
#include <optional>

namespace deltascope::desktop {

/// The demo of this process: a run that the engine trains and publishes in a folder below the cache. GUI thread.
class DemoRun final : public QObject {
    Q_OBJECT

public:
    explicit DemoRun(ServiceBridge& bridge, QObject* parent = nullptr);

    /// Starts it, or finds the one that runs, and returns the id of its run. `rate`: steps per second. Errors: Exists,
    /// Io.
    Result<QString> start(double rate);
    const QString& run() const { return m_run; } ///< empty: it does not run
    const QString& folder() const { return m_folder; } ///< of all its files

    /// Ends it, forgets its run and removes its files; `done` comes later.
    void end(std::function<void(const Result<void>&)> done);
    bool isEnding() const { return m_ended != nullptr; }
    /// Ends it and starts another one.
    void restart(std::function<void(const Result<QString>&)> done);

private:
    void remove();

    ServiceBridge& m_bridge;
    app::DemoRequest m_request;
    QString m_run;
    QString m_folder;
    std::optional<app::JobId> m_job; ///< while it is at work
    std::function<void(const Result<void>&)> m_ended; ///< null: nobody waits for its end
};

} // namespace deltascope::desktop
