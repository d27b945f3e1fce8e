#pragma once

#include "kept_plans.h"
#include "tasks.h"

#include <mutex>

namespace deltascope::app {

/// Plans and tasks of a monitor, from the question what an act would do to the journal of what it did. Any thread.
class Acts {
public:
    /// Both outlive it. The monitor is asked for runs, never while it calls.
    Acts(Monitor& monitor, Service& service, const MonitorOptions& options);

    // As in Monitor.
    Result<PlanView> plan(const std::string& run, const ActRequest& request, const std::string& by);
    Result<PlanView> planned(const std::string& plan) const;
    void dropPlan(const std::string& plan);
    Result<TaskView> start(const std::string& plan, const std::string& hash, const std::string& by, std::int64_t nowUs);
    std::vector<TaskView> tasks() const;
    std::optional<TaskView> task(const std::string& id) const;
    Result<TaskView> pause(const std::string& id);
    Result<TaskView> cancel(const std::string& id);
    Result<TaskView> resume(const std::string& id, std::int64_t nowUs);
    std::optional<ActRequest> requestOf(const std::string& task) const;

    void runFollowed(const std::string& run, const SourceRequest& source);
    void runForgotten(const std::string& run);
    void take(const JobView& job);
    /// Nothing for jobs that are no task.
    std::optional<Tasks::Ended> takeEnd(const Service& service, JobId job, const Result<JobResult>& outcome);
    std::vector<TaskView> takeMoved(); ///< what changed since the last call

    /// Brings back what earlier processes left.
    void restore(std::int64_t nowUs);
    /// To be called now and then: begins what waited for its run, and writes the journal.
    void tend(std::int64_t nowUs);
    void keep(); ///< writes the journal

private:
    Result<BoundPlan> planOf(const std::string& run, const ActRequest& request) const;
    Result<void> begin(const Tasks::Waiting& task, std::int64_t nowUs);
    void cancelDropped();

    Monitor& m_monitor;
    Service& m_service;
    const MonitorOptions& m_options;
    mutable std::mutex m_mutex; ///< guards plans and tasks; the monitor is not asked while it is held
    KeptPlans m_plans;
    Tasks m_tasks;
};

} // namespace deltascope::app
