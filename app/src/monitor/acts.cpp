#include "acts.h"

#include "same_source.h"

namespace deltascope::app {

namespace {

Error errorOf(const ProblemView& problem)
{
    return { parseCode(problem.code).value_or(Code::Internal), problem.text, problem.where, problem.step,
             problem.remedy };
}

}

Acts::Acts(Monitor& monitor, Service& service, const MonitorOptions& options)
    : m_monitor(monitor)
    , m_service(service)
    , m_options(options)
    , m_tasks(options.taskFolder, options.anyFolder)
{
}

/// Without the lock: the monitor is asked.
Result<BoundPlan> Acts::planOf(const std::string& run, const ActRequest& request) const
{
    const std::shared_ptr<const RunSnapshot> snapshot = m_monitor.run(run);
    const std::optional<SourceRequest> source = m_monitor.sourceOf(run);
    if (!snapshot || !source)
        return fail(Code::NotFound, "there is no such run", run);
    return planAct(*snapshot, canonical(*source), request, m_options);
}

Result<PlanView> Acts::plan(const std::string& run, const ActRequest& request, const std::string& by)
{
    DS_TRY(BoundPlan plan, planOf(run, request));
    const std::lock_guard lock(m_mutex); // the end of the job waits until it is known whose it is
    const ActCall call = plan.call;
    Result<PlanView> kept = m_plans.add(std::move(plan), by, [&] { return m_service.start(call); });
    cancelDropped();
    return kept;
}

Result<PlanView> Acts::planned(const std::string& plan) const
{
    const std::lock_guard lock(m_mutex);
    return m_plans.view(plan);
}

void Acts::dropPlan(const std::string& plan)
{
    const std::lock_guard lock(m_mutex);
    m_plans.drop(plan);
    cancelDropped();
}

/// With the lock.
void Acts::cancelDropped()
{
    for (const JobId job : m_plans.takeDropped())
        m_service.cancel(job);
}

Result<TaskView> Acts::start(const std::string& id, const std::string& hash, const std::string& by, std::int64_t nowUs)
{
    BoundPlan plan;
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(const BoundPlan* known, m_plans.find(id, hash));
        plan = *known;
    }
    TaskRecord record;
    record.request = plan.request;
    record.settled = plan.settled;
    record.source = canonical(m_monitor.sourceOf(plan.view.run).value_or(SourceRequest()));
    record.view.plan = plan.view;
    record.view.plan.act.reset(); // the journal beside the run tells what was written
    record.view.plan.changes.clear();
    record.view.by = by;
    record.view.startedUs = nowUs;
    record.view.state = "queued";
    DS_CHECK(m_tasks.journal().accept(record)); // without the lock: a disk may be slow
    const std::lock_guard lock(m_mutex);
    return m_tasks.start(m_service, plan, std::move(record));
}

std::vector<TaskView> Acts::tasks() const
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.all();
}

std::optional<TaskView> Acts::task(const std::string& id) const
{
    const std::lock_guard lock(m_mutex);
    const TaskView* found = m_tasks.find(id);
    return found ? std::optional(*found) : std::nullopt;
}

Result<TaskView> Acts::pause(const std::string& id)
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.pause(m_service, id);
}

Result<TaskView> Acts::cancel(const std::string& id)
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.cancel(m_service, id);
}

Result<TaskView> Acts::resume(const std::string& id, std::int64_t nowUs)
{
    std::optional<Tasks::Waiting> waiting;
    {
        const std::lock_guard lock(m_mutex);
        const bool waited = m_tasks.waitingFor(id).has_value(); // then it is being seen to
        DS_CHECK(m_tasks.resume(m_service, id));
        if (!waited)
            waiting = m_tasks.waitingFor(id);
    }
    if (waiting && waiting->run.empty())
        waiting->run = m_monitor.follow(waiting->source, {}, false);
    if (waiting)
        DS_CHECK(begin(*waiting, nowUs));
    const std::lock_guard lock(m_mutex);
    const TaskView* now = m_tasks.find(id);
    return now ? Result<TaskView>(*now) : fail(Code::NotFound, "there is no such task", id);
}

/// Begins a task, if its run is open by now; the act refuses a run that is not the one of its plan any more. Errors:
/// why it never will.
Result<void> Acts::begin(const Tasks::Waiting& task, std::int64_t nowUs)
{
    const std::shared_ptr<const RunSnapshot> snapshot = m_monitor.run(task.run);
    if (snapshot && !snapshot->run && !snapshot->error)
        return {};
    const bool open = snapshot && snapshot->run;
    Result<BoundPlan> plan = planOf(task.run, task.request);
    if (!plan && open && !snapshot->run->settled) // what is known of it may be enough yet
        return {};
    const std::lock_guard lock(m_mutex);
    if (plan) {
        plan->view.hash = task.hash;
        m_tasks.begin(m_service, task.id, *plan, nowUs);
        return {};
    }
    Result<void> refusal = !open && snapshot ? fail(errorOf(*snapshot->error)) : fail(plan.error());
    m_tasks.refuse(task.id, refusal.error(), !open);
    return refusal;
}

std::optional<ActRequest> Acts::requestOf(const std::string& task) const
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.requestOf(task);
}

void Acts::runFollowed(const std::string& run, const SourceRequest& source)
{
    const std::lock_guard lock(m_mutex);
    m_tasks.runFollowed(run, source);
}

void Acts::runForgotten(const std::string& run)
{
    const std::lock_guard lock(m_mutex);
    m_tasks.runForgotten(run);
}

void Acts::take(const JobView& job)
{
    const std::lock_guard lock(m_mutex);
    m_plans.take(job);
    m_tasks.take(job);
}

std::optional<Tasks::Ended> Acts::takeEnd(const Service& service, JobId job, const Result<JobResult>& outcome)
{
    const std::lock_guard lock(m_mutex);
    if (m_plans.takeEnd(job, outcome))
        return std::nullopt;
    return m_tasks.takeEnd(service, job, outcome);
}

std::vector<TaskView> Acts::takeMoved()
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.takeMoved();
}

void Acts::restore(std::int64_t nowUs)
{
    std::vector<TaskRecord> records = m_tasks.journal().readAll(nowUs);
    const std::lock_guard lock(m_mutex);
    m_tasks.restore(std::move(records));
}

void Acts::tend(std::int64_t nowUs)
{
    std::vector<Tasks::Waiting> waiting;
    {
        const std::lock_guard lock(m_mutex);
        waiting = m_tasks.waiting();
    }
    for (const Tasks::Waiting& task : waiting)
        static_cast<void>(begin(task, nowUs)); // the task tells
    keep();
}

/// Writes without the lock: a disk may be slow.
void Acts::keep()
{
    std::vector<TaskRecord> records;
    {
        const std::lock_guard lock(m_mutex);
        records = m_tasks.takeUnkept();
    }
    if (records.empty())
        return;
    std::vector<Result<void>> outcomes;
    for (const TaskRecord& record : records)
        outcomes.push_back(m_tasks.journal().write(record));
    const std::lock_guard lock(m_mutex);
    for (std::size_t i = 0; i < records.size(); ++i)
        m_tasks.takeKept(records[i].view.id, outcomes[i]);
}

} // namespace deltascope::app
