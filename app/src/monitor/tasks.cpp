#include "tasks.h"

#include "task_states.h"

#include "deltascope/engine/act_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t MostTasks = 500;
constexpr auto ProgressKept = std::chrono::seconds(2);

}

Tasks::Tasks(std::string folder, bool all)
    : m_all(all)
    , m_journal(std::move(folder))
{
}

void Tasks::makeRoom()
{
    if (m_tasks.size() < MostTasks)
        return;
    const auto over =
        std::find_if(m_tasks.begin(), m_tasks.end(), [](const Task& task) { return isOver(task.record.view); });
    if (over != m_tasks.end())
        m_tasks.erase(over);
}

TaskView Tasks::start(Service& service, const BoundPlan& plan, TaskRecord record)
{
    makeRoom();
    Task task;
    task.record = std::move(record);
    task.beganUs = task.record.view.startedUs;
    task.unkept = Change::None;
    startJob(service, plan, task);
    m_tasks.push_back(std::move(task));
    return m_tasks.back().record.view;
}

void Tasks::startJob(Service& service, const BoundPlan& plan, Task& task)
{
    task.shareBefore = service.deviceShare().value_or(DeviceShareView());
    task.noticesBefore = service.backendNotices();
    task.job = service.start(plan.bound(task.record.view.by));
}

std::vector<TaskView> Tasks::all() const
{
    std::vector<TaskView> views;
    for (auto at = m_tasks.rbegin(); at != m_tasks.rend(); ++at) {
        if (isShown(*at))
            views.push_back(at->record.view);
    }
    return views;
}

const Tasks::Task* Tasks::get(const std::string& id) const
{
    const auto found = std::find_if(m_tasks.begin(), m_tasks.end(),
                                    [&](const Task& task) { return task.record.view.id == id && isShown(task); });
    return found == m_tasks.end() ? nullptr : &*found;
}

const TaskView* Tasks::find(const std::string& id) const
{
    const Task* const found = get(id);
    return found ? &found->record.view : nullptr;
}

std::optional<ActRequest> Tasks::requestOf(const std::string& id) const
{
    const Task* const found = get(id);
    return found && !found->record.view.plan.kind.empty() ? std::optional(found->record.request) : std::nullopt;
}

Result<Tasks::Task*> Tasks::expect(const std::string& id)
{
    if (const Task* const found = get(id))
        return const_cast<Task*>(found);
    return fail(Code::NotFound, "there is no such task", id);
}

TaskView& Tasks::change(Task& task)
{
    task.moved = true;
    task.unkept = Change::State;
    return task.record.view;
}

Result<TaskView> Tasks::pause(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, expect(id));
    if (isOver(task->record.view))
        return task->record.view;
    if (task->waits) {
        task->waits = false;
        interrupt(change(*task));
    } else if (task->job) {
        service.pause(*task->job);
        change(*task).state = "paused";
    }
    return task->record.view;
}

Result<TaskView> Tasks::cancel(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, expect(id));
    if (isOver(task->record.view))
        return task->record.view;
    if (task->job) {
        service.cancel(*task->job);
        change(*task).state = "canceling";
        return task->record.view;
    }
    DS_CHECK(hold(*task));
    task->waits = false;
    if (!isOver(task->record.view))
        endCanceled(change(*task));
    return task->record.view;
}

Result<TaskView> Tasks::resume(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, expect(id));
    const TaskView& view = task->record.view;
    if (task->job && view.state == "paused") {
        service.resume(*task->job);
        change(*task).state = "running";
    } else if (view.interrupted || (isOver(view) && view.resumable)) {
        DS_CHECK(hold(*task));
        if (isOver(view) && !view.resumable)
            return view;
        TaskView& changed = change(*task);
        changed.problem.reset();
        changed.resumable = false;
        changed.interrupted = false;
        changed.state = "queued";
        task->waits = true;
    }
    return view;
}

Tasks::Task* Tasks::taskOf(JobId job)
{
    const auto found = std::find_if(m_tasks.begin(), m_tasks.end(), [&](const Task& task) { return task.job == job; });
    return found == m_tasks.end() ? nullptr : &*found;
}

void Tasks::take(const JobView& job)
{
    Task* const task = taskOf(job.id);
    if (!task)
        return;
    TaskView& view = task->record.view;
    const std::string state = view.state == "canceling" ? view.state : stateWord(job.state);
    if (state != view.state)
        task->unkept = Change::State;
    view.state = state;
    view.phase = job.phase;
    view.doneBytes = job.doneBytes;
    view.totalBytes = job.totalBytes;
    view.bytesPerSecond = job.bytesPerSecond;
    view.secondsLeft = job.secondsLeft;
    view.seconds = job.seconds;
    task->moved = true;
    task->unkept = std::max(task->unkept, Change::Progress);
}

void Tasks::takeBackend(const Service& service, Task& task)
{
    TaskView& view = task.record.view;
    view.backend = service.backend().value_or(std::string());
    const std::optional<DeviceShareView> share = service.deviceShare();
    if (share) {
        view.deviceBytes = share->byDevice - task.shareBefore.byDevice;
        view.batchBytes = share->all() - task.shareBefore.all();
        view.backend = *view.deviceBytes > 0 ? share->device : share->processor;
    }
    const std::vector<Error> notices = service.backendNotices();
    const auto isNew = [&](const Error& notice) {
        return std::find(task.noticesBefore.begin(), task.noticesBefore.end(), notice) == task.noticesBefore.end();
    };
    // What ended the device before is also why it did nothing now.
    const bool wasLeftOut = share && *view.deviceBytes == 0 && *view.batchBytes > 0;
    const bool hasNew = std::any_of(notices.begin(), notices.end(), isNew);
    view.backendNotices.clear();
    for (const Error& notice : notices) {
        if (isNew(notice) || (wasLeftOut && !hasNew))
            view.backendNotices.push_back(problemView(notice));
    }
    if (wasLeftOut && notices.empty())
        view.backendNotices.push_back(problemView(
            { Code::NoSpace,
              "the CUDA device did nothing of it: all of its batches were in use, or there was no operation for it",
              {},
              {},
              "--device-memory allows more of them." }));
}

std::optional<Tasks::Ended> Tasks::takeEnd(const Service& service, JobId job, const Result<JobResult>& outcome)
{
    Task* const task = taskOf(job);
    if (!task)
        return std::nullopt;
    task->job.reset();
    TaskView& view = change(*task);
    if (const std::optional<JobView> ended = service.job(job)) // no progress event gives the time of a short one
        view.seconds = ended->seconds;
    view.secondsLeft.reset();
    view.bytesPerSecond = 0;
    takeBackend(service, *task);
    if (outcome) {
        view.state = "done";
        view.doneBytes = view.totalBytes;
        view.result = *outcome;
        if (const auto* const discarded = std::get_if<std::shared_ptr<const DiscardView>>(&*outcome))
            forgetDiscarded(**discarded);
    } else if (outcome.error().code == Code::Canceled) {
        endCanceled(view);
    } else {
        view.state = "failed";
        view.problem = problemView(outcome.error());
        view.resumable = leavesSomething(view.plan) && !isOfStalePlan(outcome.error());
    }
    return Ended { view, task->beganUs };
}

std::vector<TaskView> Tasks::takeMoved()
{
    std::vector<TaskView> views;
    for (Task& task : m_tasks) {
        if (task.moved && isShown(task))
            views.push_back(task.record.view);
        task.moved = task.moved && !isShown(task);
    }
    return views;
}

std::vector<TaskRecord> Tasks::takeUnkept()
{
    std::vector<TaskRecord> records;
    const Clock::time_point now = Clock::now();
    for (Task& task : m_tasks) {
        if (task.unkept == Change::None || (task.unkept == Change::Progress && now - task.kept < ProgressKept))
            continue;
        records.push_back(task.record);
        task.unkept = Change::None;
        task.kept = now;
    }
    return records;
}

void Tasks::takeKept(const std::string& id, const Result<void>& outcome)
{
    const auto task = std::find_if(m_tasks.begin(), m_tasks.end(),
                                   [&](const Task& candidate) { return candidate.record.view.id == id; });
    if (task == m_tasks.end())
        return;
    TaskView& view = task->record.view;
    if (!outcome)
        task->unkept = std::max(task->unkept, Change::Progress);
    if (!outcome || view.notKept) {
        view.notKept = outcome ? std::nullopt : std::optional(problemView(outcome.error()));
        task->moved = true;
    }
    if (outcome && !isAtWork(view) && task->unkept == Change::None)
        m_journal.release(id);
}

} // namespace deltascope::app
