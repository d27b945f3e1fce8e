#pragma once

#include "acts/act.h"
#include "task_journal.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// The acts of a monitor that were begun, kept in a journal. A value that its owner guards.
class Tasks {
public:
    /// `all`: also tasks of runs that are not followed are shown.
    Tasks(std::string folder, bool all);

    /// Begins what the journal has accepted.
    TaskView start(Service& service, const BoundPlan& plan, TaskRecord record);
    std::vector<TaskView> all() const; ///< newest first
    const TaskView* find(const std::string& id) const;
    std::optional<ActRequest> requestOf(const std::string& id) const;

    /// Errors: NotFound.
    Result<TaskView> pause(Service& service, const std::string& id);
    /// Errors: NotFound, Exists.
    Result<TaskView> cancel(Service& service, const std::string& id);
    /// What has no job any more waits for its run afterwards. Errors: NotFound, Exists.
    Result<TaskView> resume(Service& service, const std::string& id);

    /// A task that begins once its run is open, as it was planned.
    struct Waiting {
        std::string id;
        std::string run; ///< empty: not followed yet
        std::string hash;
        ActRequest request; ///< with what was settled
        SourceRequest source;
    };
    std::vector<Waiting> waiting() const; ///< those whose run is followed
    std::optional<Waiting> waitingFor(const std::string& id) const;
    void begin(Service& service, const std::string& id, const BoundPlan& plan, std::int64_t nowUs);
    /// `again`: it may be resumed once more.
    void refuse(const std::string& id, const Error& error, bool again);

    /// What earlier processes left.
    void restore(std::vector<TaskRecord> records);
    void runFollowed(const std::string& run, const SourceRequest& source);
    void runForgotten(const std::string& run);
    void take(const JobView& job);
    struct Ended {
        TaskView task;
        std::int64_t beganUs; ///< its job did: later than the task if that was interrupted
    };
    /// Nothing for jobs that are no task. `service`: that ran it.
    std::optional<Ended> takeEnd(const Service& service, JobId job, const Result<JobResult>& outcome);

    std::vector<TaskView> takeMoved(); ///< what changed since the last call
    TaskJournal& journal() noexcept { return m_journal; }
    /// What the journal does not know yet.
    std::vector<TaskRecord> takeUnkept();
    /// How it went to write what takeUnkept() returned of a task. What failed is written again after a while.
    void takeKept(const std::string& id, const Result<void>& outcome);

private:
    using Clock = std::chrono::steady_clock;
    enum class Change : std::uint8_t { None, Progress, State };
    struct Task {
        TaskRecord record;
        std::optional<JobId> job;
        std::int64_t beganUs = 0; ///< the job
        DeviceShareView shareBefore {}; ///< the job
        std::vector<Error> noticesBefore {}; ///< of the backend
        bool waits = false;
        bool moved = true;
        Change unkept = Change::State;
        Clock::time_point kept {};
    };
    bool isShown(const Task& task) const { return m_all || !task.record.view.plan.run.empty(); }
    const Task* get(const std::string& id) const;
    Result<Task*> expect(const std::string& id);
    static Waiting waitingOf(const Task& task);
    Result<void> hold(Task& task);
    Task* taskOf(JobId job);
    static TaskView& change(Task& task);
    /// Which backend did the work of a job, as far as that differs from what was before it.
    static void takeBackend(const Service& service, Task& task);
    static void startJob(Service& service, const BoundPlan& plan, Task& task);
    void forgetDiscarded(const DiscardView& discarded);
    void makeRoom();

    bool m_all;
    TaskJournal m_journal;
    std::map<std::string, SourceRequest> m_runs; ///< that are followed
    std::deque<Task> m_tasks; ///< oldest first
};

} // namespace deltascope::app
