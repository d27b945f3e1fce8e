#include "tasks.h"

#include "same_source.h"
#include "task_states.h"

#include "deltascope/engine/leftovers.h"

#include <algorithm>

// Tasks without a job: what earlier processes left, what begins again and what is thrown away.

namespace deltascope::app {

/// Makes a task without a job ours, as it is now: another process may have gone on with it.
Result<void> Tasks::hold(Task& task)
{
    DS_TRY(const bool news, m_journal.hold(task.record.view.id));
    if (!news)
        return {};
    const Result<TaskRecord> now = m_journal.read(task.record.view.id);
    if (!now || !isOver(now->view))
        return {};
    const std::string run = task.record.view.plan.run;
    change(task) = now->view;
    task.record.view.plan.run = run;
    return {};
}

/// Tasks whose leftovers were removed have nothing to go on from. One that another process has taken up is not ours.
void Tasks::forgetDiscarded(const DiscardView& discarded)
{
    for (Task& task : m_tasks) {
        const TaskView& view = task.record.view;
        if (isAtWork(view) || view.state == "done" || view.plan.destination.empty())
            continue;
        const std::string name = nameInLeftovers(view.plan.destination);
        const bool isRemoved =
            std::any_of(discarded.leftovers.begin(), discarded.leftovers.end(),
                        [&](const DiscardedView& one) { return one.removed && one.destination == name; });
        if (!isRemoved || !hold(task) || isAtWork(view))
            continue;
        TaskView& changed = change(task);
        if (!isOver(changed))
            endCanceled(changed);
        changed.resumable = false;
        changed.doneBytes = 0;
    }
}

Tasks::Waiting Tasks::waitingOf(const Task& task)
{
    const TaskRecord& record = task.record;
    return { record.view.id, record.view.plan.run, record.view.plan.hash, record.settledRequest(), record.source };
}

std::vector<Tasks::Waiting> Tasks::waiting() const
{
    std::vector<Waiting> waiting;
    for (const Task& task : m_tasks) {
        if (task.waits && !task.record.view.plan.run.empty())
            waiting.push_back(waitingOf(task));
    }
    return waiting;
}

std::optional<Tasks::Waiting> Tasks::waitingFor(const std::string& id) const
{
    const Task* const task = get(id);
    return task && task->waits ? std::optional(waitingOf(*task)) : std::nullopt;
}

void Tasks::begin(Service& service, const std::string& id, const BoundPlan& plan, std::int64_t nowUs)
{
    const Result<Task*> task = expect(id);
    if (!task || !(*task)->waits)
        return;
    (*task)->waits = false;
    change(**task);
    (*task)->beganUs = nowUs;
    startJob(service, plan, **task);
}

void Tasks::refuse(const std::string& id, const Error& error, bool again)
{
    const Result<Task*> task = expect(id);
    if (!task || !(*task)->waits)
        return;
    (*task)->waits = false;
    TaskView& view = change(**task);
    view.state = "failed";
    view.problem = problemView(error);
    view.resumable = again;
}

void Tasks::restore(std::vector<TaskRecord> records)
{
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        Task task;
        task.record = std::move(*record);
        TaskView& view = task.record.view;
        task.unkept = Change::None;
        view.plan.run.clear();
        for (const auto& [run, source] : m_runs) {
            if (isSameSource(source, task.record.source))
                view.plan.run = run;
        }
        if (view.state == "canceling")
            endCanceled(view);
        else if (!isOver(view))
            interrupt(view);
        m_tasks.push_front(std::move(task));
    }
}

void Tasks::runFollowed(const std::string& run, const SourceRequest& source)
{
    m_runs[run] = source;
    for (Task& task : m_tasks) {
        if (!task.record.view.plan.run.empty() || !isSameSource(task.record.source, source))
            continue;
        task.record.view.plan.run = run;
        task.moved = true;
    }
}

void Tasks::runForgotten(const std::string& run)
{
    m_runs.erase(run);
    for (Task& task : m_tasks) {
        if (task.record.view.plan.run != run)
            continue;
        task.record.view.plan.run.clear();
        if (task.waits) {
            task.waits = false;
            interrupt(change(task));
        }
    }
}

} // namespace deltascope::app
