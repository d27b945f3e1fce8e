#pragma once

#include "plans.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// The acts of a monitor: plans that wait for their run, and tasks. A value that its owner guards.
class Tasks {
public:
    PlanView add(BoundPlan plan);
    /// Errors: NotFound; Rewritten if `hash` is not the plan's.
    Result<const BoundPlan*> plan(const std::string& id, const std::string& hash) const;

    TaskView& start(Service& service, const BoundPlan& plan, const std::string& by, std::int64_t nowUs);
    std::vector<TaskView> all() const; ///< newest first
    const TaskView* find(const std::string& id) const;

    /// Errors: NotFound.
    Result<TaskView> pause(Service& service, const std::string& id);
    Result<TaskView> cancel(Service& service, const std::string& id);
    Result<TaskView> resume(Service& service, const std::string& id);

    /// Null for jobs that are no task.
    const TaskView* take(const JobView& job);
    const TaskView* takeEnd(JobId job, const Result<JobResult>& outcome);

private:
    struct Task {
        TaskView view;
        BoundPlan plan;
        JobId job {};
    };
    Task* taskOf(JobId job);
    Result<Task*> get(const std::string& id);

    std::deque<BoundPlan> m_plans; ///< oldest first
    std::deque<Task> m_tasks; ///< oldest first
    std::uint64_t m_nextPlan = 1;
    std::uint64_t m_nextTask = 1;
};

} // namespace deltascope::app
