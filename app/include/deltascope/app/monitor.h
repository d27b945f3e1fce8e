#pragma once

#include "deltascope/app/acts.h"
#include "deltascope/app/alert_sender.h"
#include "deltascope/app/alerts.h"
#include "deltascope/app/service.h"
#include "deltascope/app/view/summary_view.h"
#include "deltascope/app/view/task_view.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace deltascope::app {

struct MonitorOptions {
    std::string outputFolder; ///< where checkpoints are materialized; absolute
    int verifyLevel = 2; ///< of the verification in the background; 0: none
    bool anyFolder = false; ///< a plan may name any other path too: for faces whose user owns the machine's files
    std::string taskFolder; ///< where tasks outlive the program; shared by all that use it; empty: they do not
    std::string alertRules {}; ///< file in which settings of alert rules outlive the program; empty: they do not
    /// A source that could not be read is opened again after that. The pause doubles with each further failure, up to 5
    /// minutes, or 30 seconds for a source that this monitor has read before.
    std::chrono::milliseconds retry { 5'000 };
};

/// What happened; every value is the newest.
struct RunMoved {
    std::shared_ptr<const RunSnapshot> before; ///< null: the first
    std::shared_ptr<const RunSnapshot> now;
};
struct TaskMoved {
    TaskView task;
};
struct AlertMoved {
    AlertChange change;
};
using MonitorEvent = std::variant<RunMoved, TaskMoved, AlertMoved>;

/// Follows runs for a face that shows them: keeps the newest view of each, verifies in the background, watches over
/// alerts, and carries out acts that go on without a face. All methods may be called from any thread; listeners are
/// called on the monitor's own thread and must return soon.
class Monitor {
public:
    virtual ~Monitor() = default;
    /// `service` outlives it.
    static std::unique_ptr<Monitor> create(Service& service, MonitorOptions options);

    /// Begins to follow a source. `name`: to show; empty: the source's own. Returns the id of the run.
    virtual std::string follow(SourceRequest request, std::string name, bool demo) = 0;
    /// Follows a run no longer and forgets it with its alerts; its id may be given anew. Idempotent.
    virtual void unfollow(const std::string& id) = 0;
    virtual std::vector<std::shared_ptr<const RunSnapshot>> runs() const = 0; ///< as they were added
    virtual std::shared_ptr<const RunSnapshot> run(const std::string& id) const = 0; ///< null: no such run
    virtual std::optional<SourceRequest> sourceOf(const std::string& id) const = 0;

    /// Starts a job of the service and calls `done` with what it ends with.
    virtual void ask(const std::function<JobId(Service&)>& start, std::function<void(Result<JobResult>)> done) = 0;

    /// What an act would do. Acts on nothing. `by`: who asks; of each only the newest plans are kept. Its state is
    /// "planning" at first, and planned() tells what came of it. Errors: NotFound, Usage, those that the act would have
    /// at once.
    virtual Result<PlanView> plan(const std::string& run, const ActRequest& request, const std::string& by) = 0;
    /// A plan as it is now. Errors: NotFound.
    virtual Result<PlanView> planned(const std::string& plan) = 0;
    /// Forgets a plan, and what is being read for it. Idempotent.
    virtual void dropPlan(const std::string& plan) = 0;
    /// Carries a plan out. A task that is returned is on disk, in MonitorOptions::taskFolder; it fails (Exists) if the
    /// run is not the one of the plan any more. Errors: NotFound (no such plan), Usage (it is not made yet), Rewritten
    /// (the hash is not that of the plan); NoSpace, Auth, Io (it cannot be kept, and has not begun).
    virtual Result<TaskView> start(const std::string& plan, const std::string& hash, const std::string& by) = 0;
    virtual std::vector<TaskView> tasks() const = 0; ///< newest first
    virtual std::optional<TaskView> task(const std::string& id) const = 0;
    /// Errors: NotFound.
    virtual Result<TaskView> pause(const std::string& id) = 0;
    virtual Result<TaskView> cancel(const std::string& id) = 0;
    /// Of a paused task; of one that was interrupted, or canceled or failed and is resumable: the same plan again, once
    /// its run is open, which is followed if it is not yet. It fails (Exists) if the run is not the one of the plan any
    /// more. Errors: NotFound, Exists (another process works on it).
    virtual Result<TaskView> resume(const std::string& id) = 0;
    /// What a task was planned from, for a new plan. Nothing: no such task.
    virtual std::optional<ActRequest> requestOf(const std::string& task) const = 0;

    virtual Alerts& alerts() noexcept = 0;
    /// Sends the messages that alerts ask for, at first to nobody. Null: somebody else sends them.
    virtual AlertSender* sender() noexcept = 0;

    /// `listener` is called until the returned token is destroyed.
    virtual std::shared_ptr<void> listen(std::function<void(const MonitorEvent&)> listener) = 0;
};

} // namespace deltascope::app
