#pragma once

#include "deltascope/app/remote.h"

#include "event_source.h"
#include "monitor/listeners.h"
#include "remote_alerts.h"
#include "remote_runs.h"
#include "remote_service.h"
#include "service/job_answers.h"
#include "wire.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace deltascope::app {

/// Keeps the copies of a server's runs, tasks and alerts up to date: everything when contact is made, then what the
/// server tells of. Gone contact is made again, after a growing pause.
class RemoteMonitor final : public Monitor {
public:
    /// All outlive it. The wire is signed in.
    RemoteMonitor(Wire& wire, RemoteRuns& runs, RemoteService& service);
    ~RemoteMonitor() override;

    void tryAgain(); ///< at once, where contact is lost; any thread

    std::string follow(SourceRequest request, std::string name, bool demo) override;
    void unfollow(const std::string& id) override;
    std::vector<std::shared_ptr<const RunSnapshot>> runs() const override { return m_runs.all(); }
    std::shared_ptr<const RunSnapshot> run(const std::string& id) const override { return m_runs.find(id); }
    std::optional<SourceRequest> sourceOf(const std::string& id) const override;
    void ask(const std::function<JobId(Service&)>& start, std::function<void(Result<JobResult>)> done) override
    {
        m_answers.ask(start, std::move(done));
    }
    Result<PlanView> plan(const std::string& run, const ActRequest& request, const std::string& by) override;
    Result<PlanView> planned(const std::string& plan) override;
    void dropPlan(const std::string& plan) override;
    Result<TaskView> start(const std::string& plan, const std::string& hash, const std::string& by) override;
    std::vector<TaskView> tasks() const override;
    std::optional<TaskView> task(const std::string& id) const override;
    Result<TaskView> pause(const std::string& id) override { return steer(id, "pause"); }
    Result<TaskView> cancel(const std::string& id) override { return steer(id, "cancel"); }
    Result<TaskView> resume(const std::string& id) override { return steer(id, "resume"); }
    std::optional<ActRequest> requestOf(const std::string& task) const override;
    Alerts& alerts() noexcept override { return m_alerts; }
    AlertSender* sender() noexcept override { return nullptr; }
    std::shared_ptr<void> listen(std::function<void(const MonitorEvent&)> listener) override
    {
        return m_listeners.add(std::move(listener));
    }

private:
    using Clock = std::chrono::steady_clock;

    Result<TaskView> steer(const std::string& id, const std::string& verb);

    // The thread that keeps up.
    void loop(const std::stop_token& stop);
    Result<void> stay(const std::stop_token& stop); ///< until contact is lost
    Result<std::unique_ptr<EventSource>> openStream(const std::stop_token& stop);
    void note(const ServerEvent& event);
    Result<void> fetchRuns();
    Result<void> fetchWhatMoved();
    Result<void> fetchRun(const std::string& id);
    Result<void> fetchTasks();
    Result<void> fetchAlerts();
    void lose(const Error& error);
    void takeTask(TaskView task);

    Wire& m_wire;
    RemoteRuns& m_runs;
    RemoteAlerts m_alerts;
    Listeners m_listeners;

    std::set<std::string> m_moved; ///< runs; of the thread that keeps up, as the next ones
    bool m_listMoved = false, m_tasksMoved = false, m_alertsMoved = false;
    bool m_toldLost = false;
    std::int64_t m_contactUs = 0; ///< when the server was last heard of

    mutable std::mutex m_mutex; ///< guards what follows
    std::condition_variable_any m_wake;
    bool m_hurry = false; ///< somebody does not want to wait
    std::vector<TaskView> m_tasks; ///< newest first
    std::map<std::string, ActRequest> m_requests; ///< by id of the plan
    std::map<std::string, ActRequest> m_started; ///< by its hash
    JobAnswers m_answers;
    std::jthread m_thread; ///< last: it uses everything above
};

} // namespace deltascope::app
