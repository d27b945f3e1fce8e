#pragma once

#include "deltascope/app/monitor.h"

#include <QObject>
#include <QString>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace deltascope::desktop {

using RunPointer = std::shared_ptr<const app::RunSnapshot>;

/// The application layer for widgets: what its monitor says, as signals on the GUI thread, at most ten times a second
/// per run and task; answers of jobs on the GUI thread too. GUI thread only, except where said.
class ServiceBridge final : public QObject {
    Q_OBJECT

public:
    /// Both outlive it. `server`: who does the work, as in server().
    ServiceBridge(app::Service& service, app::Monitor& monitor, QString server = {}, QObject* parent = nullptr);
    ~ServiceBridge() override;

    app::Service& service() { return m_service; }
    app::Monitor& monitor() { return m_monitor; }
    /// "trainer:7717": the server whose runs these are; its files are not those of this machine. Empty: the engine is
    /// in this process.
    const QString& server() const { return m_server; }

    using Answer = std::function<void(const Result<app::JobResult>&)>;
    /// Starts a job and calls `answer` with its end, unless `context` is gone by then.
    void ask(QObject* context, std::function<app::JobId(app::Service&)> start, Answer answer);

    using PlanAnswer = std::function<void(const Result<app::PlanView>&)>;
    /// Makes a plan off the GUI thread.
    void plan(QObject* context, const QString& run, app::ActRequest request, PlanAnswer answer);

    /// The same, and answers once the plan is made. One that cannot be made is an error.
    void planToTheEnd(QObject* context, const QString& run, app::ActRequest request, PlanAnswer answer);

    /// What has become of a plan that was being made.
    void planned(QObject* context, const std::string& plan, PlanAnswer answer);
    /// Forgets a plan that nobody wants to carry out.
    void dropPlan(const std::string& plan);

    using TaskAnswer = std::function<void(const Result<app::TaskView>&)>;
    /// Carries a plan out.
    void start(QObject* context, const app::PlanView& plan, TaskAnswer answer);
    /// Pauses, resumes or cancels a task.
    using Steer = Result<app::TaskView> (app::Monitor::*)(const std::string&);
    void steer(QObject* context, const std::string& task, Steer how, TaskAnswer answer);

    /// Microseconds since 1970.
    static std::int64_t nowUs();

signals:
    /// `before` is null the first time.
    void runMoved(const deltascope::desktop::RunPointer& before, const deltascope::desktop::RunPointer& now);
    void taskMoved(const deltascope::app::TaskView& task);
    void alertMoved(const deltascope::app::AlertChange& change);

    void taken(QPrivateSignal); ///< any thread: take() has something

private:
    void await(QObject* context, const Result<app::PlanView>& plan, const PlanAnswer& answer);
    void take(const app::MonitorEvent& event); ///< any thread
    void drainSoon();
    void drain();

    app::Service& m_service;
    app::Monitor& m_monitor;
    const QString m_server;
    std::mutex m_mutex; ///< guards m_waiting
    std::vector<app::MonitorEvent> m_waiting; ///< the newest of each run and task
    std::atomic<bool> m_drainQueued = false;
    std::int64_t m_lastDrainUs = 0;
    std::shared_ptr<void> m_listening; ///< last: it calls take()
};

} // namespace deltascope::desktop
