#include "tasks.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t MostPlans = 256;
constexpr std::size_t MostTasks = 500;

std::string stateWord(JobState state)
{
    switch (state) {
    case JobState::Queued:
        return "queued";
    case JobState::Running:
        return "running";
    case JobState::Paused:
        return "paused";
    case JobState::Done:
        return "done";
    case JobState::Failed:
        return "failed";
    case JobState::Canceled:
        return "canceled";
    }
    return {};
}

}

PlanView Tasks::add(BoundPlan plan)
{
    plan.view.id = fmt::format("p{}", m_nextPlan++);
    m_plans.push_back(std::move(plan));
    if (m_plans.size() > MostPlans)
        m_plans.pop_front();
    return m_plans.back().view;
}

Result<const BoundPlan*> Tasks::plan(const std::string& id, const std::string& hash) const
{
    const auto found =
        std::find_if(m_plans.begin(), m_plans.end(), [&](const BoundPlan& plan) { return plan.view.id == id; });
    if (found == m_plans.end())
        return fail(Code::NotFound, "there is no such plan", id, "make a new one");
    if (found->view.hash != hash)
        return fail(Code::Rewritten, "this is not the hash of the plan", id, "look at the plan again");
    return &*found;
}

TaskView& Tasks::start(Service& service, const BoundPlan& plan, const std::string& by, std::int64_t nowUs)
{
    if (m_tasks.size() >= MostTasks) {
        const auto over =
            std::find_if(m_tasks.begin(), m_tasks.end(), [](const Task& task) { return isOver(task.view); });
        if (over != m_tasks.end())
            m_tasks.erase(over);
    }
    Task task;
    task.view.id = fmt::format("t{}", m_nextTask++);
    task.view.plan = plan.view;
    task.view.by = by;
    task.view.startedUs = nowUs;
    task.view.state = "queued";
    task.plan = plan;
    task.job = plan.start(service);
    m_tasks.push_back(std::move(task));
    return m_tasks.back().view;
}

std::vector<TaskView> Tasks::all() const
{
    std::vector<TaskView> views;
    for (auto at = m_tasks.rbegin(); at != m_tasks.rend(); ++at)
        views.push_back(at->view);
    return views;
}

const TaskView* Tasks::find(const std::string& id) const
{
    const auto found =
        std::find_if(m_tasks.begin(), m_tasks.end(), [&](const Task& task) { return task.view.id == id; });
    return found == m_tasks.end() ? nullptr : &found->view;
}

Result<Tasks::Task*> Tasks::get(const std::string& id)
{
    const auto found =
        std::find_if(m_tasks.begin(), m_tasks.end(), [&](const Task& task) { return task.view.id == id; });
    if (found == m_tasks.end())
        return fail(Code::NotFound, "there is no such task", id);
    return &*found;
}

Result<TaskView> Tasks::pause(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, get(id));
    service.pause(task->job);
    if (!isOver(task->view))
        task->view.state = "paused";
    return task->view;
}

Result<TaskView> Tasks::cancel(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, get(id));
    service.cancel(task->job);
    if (!isOver(task->view))
        task->view.state = "canceling";
    return task->view;
}

Result<TaskView> Tasks::resume(Service& service, const std::string& id)
{
    DS_TRY(Task* const task, get(id));
    if (task->view.state == "paused") {
        service.resume(task->job);
        task->view.state = "running";
    } else if (isOver(task->view) && task->view.resumable) {
        task->view.problem.reset();
        task->view.resumable = false;
        task->view.state = "queued";
        task->job = task->plan.start(service);
    }
    return task->view;
}

Tasks::Task* Tasks::taskOf(JobId job)
{
    const auto found = std::find_if(m_tasks.begin(), m_tasks.end(), [&](const Task& task) { return task.job == job; });
    return found == m_tasks.end() ? nullptr : &*found;
}

const TaskView* Tasks::take(const JobView& job)
{
    Task* const task = taskOf(job.id);
    if (!task || isOver(task->view))
        return nullptr;
    TaskView& view = task->view;
    if (view.state != "canceling")
        view.state = stateWord(job.state);
    view.phase = job.phase;
    view.doneBytes = job.doneBytes;
    view.totalBytes = job.totalBytes;
    view.bytesPerSecond = job.bytesPerSecond;
    view.secondsLeft = job.secondsLeft;
    view.seconds = job.seconds;
    return &view;
}

const TaskView* Tasks::takeEnd(JobId job, const Result<JobResult>& outcome)
{
    Task* const task = taskOf(job);
    if (!task)
        return nullptr;
    TaskView& view = task->view;
    view.secondsLeft.reset();
    view.bytesPerSecond = 0;
    if (outcome) {
        view.state = "done";
        view.doneBytes = view.totalBytes;
        view.result = *outcome;
    } else {
        view.state = outcome.error().code == Code::Canceled ? "canceled" : "failed";
        if (view.state == "failed")
            view.problem = problemView(outcome.error());
        view.resumable = task->plan.resumable;
    }
    return &view;
}

} // namespace deltascope::app
