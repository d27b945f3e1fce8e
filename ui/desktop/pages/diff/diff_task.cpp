#include "pages/diff/diff_task.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

DiffPointer resultOf(const app::TaskView& task)
{
    if (task.state != "done" || !task.result)
        return nullptr;
    const auto* found = std::get_if<DiffPointer>(&*task.result);
    return found ? *found : nullptr;
}

}

DiffTask::DiffTask(ServiceBridge& bridge, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
{
    connect(&bridge, &ServiceBridge::taskMoved, this, [this](const app::TaskView& task) {
        if (m_task && task.id == m_task->id && m_state == State::Running)
            takeTask(task);
    });
}

void DiffTask::setPair(std::optional<DiffPair> pair)
{
    if (pair == m_pair)
        return;
    m_pair = std::move(pair);
    m_task.reset();
    planAgain();
}

void DiffTask::planAgain()
{
    const std::uint64_t generation = ++m_generation;
    m_plan.reset();
    m_result.reset();
    m_problem.reset();
    if (!m_pair)
        return enter(State::None);
    enter(State::Planning);
    const app::DiffArgs wanted { m_pair->a.address().toStdString(), m_pair->b.address().toStdString() };
    m_bridge.planToTheEnd(this, m_pair->run, wanted, [this, generation](const Result<app::PlanView>& plan) {
        if (generation == m_generation)
            takePlan(plan);
        else if (plan)
            m_bridge.dropPlan(plan->id);
    });
}

void DiffTask::takePlan(const Result<app::PlanView>& plan)
{
    if (!plan) {
        m_problem = app::problemView(plan.error());
        return enter(State::Failed);
    }
    m_plan = *plan;
    for (const app::TaskView& task : m_bridge.monitor().tasks()) { // newest first
        const bool same = task.plan.kind == plan->kind && task.plan.run == plan->run && task.plan.hash == plan->hash;
        if (same && (resultOf(task) || !isOver(task)))
            return takeTask(task);
    }
    enter(State::Ready);
}

void DiffTask::start()
{
    if (!m_plan || m_state == State::Running || m_state == State::Planning)
        return;
    const std::uint64_t generation = ++m_generation;
    m_bridge.start(this, *m_plan, [this, generation](const Result<app::TaskView>& task) {
        if (generation != m_generation)
            return;
        if (task) // which may have ended by now
            return takeTask(m_bridge.monitor().task(task->id).value_or(*task));
        m_problem = app::problemView(task.error()); // the run changed since, or this needs a right
        enter(State::Failed);
    });
    enter(State::Planning);
}

void DiffTask::takeTask(const app::TaskView& task)
{
    m_task = task;
    m_problem = task.problem;
    m_result = resultOf(task);
    if (task.state == "failed")
        enter(State::Failed);
    else if (task.state == "canceled")
        planAgain(); // a plan starts once
    else
        enter(m_result ? State::Done : State::Running);
}

void DiffTask::cancel()
{
    if (m_state == State::Running && m_task)
        m_bridge.steer(this, m_task->id, &app::Monitor::cancel, [](const Result<app::TaskView>&) {});
}

void DiffTask::enter(State state)
{
    m_state = state;
    emit changed();
}

} // namespace deltascope::desktop
