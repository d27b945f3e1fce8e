#include "bridge/service_bridge.h"

#include "bridge/background.h"

#include "deltascope/base/code.h"

#include <QPointer>
#include <QTimer>

#include <algorithm>
#include <chrono>

namespace deltascope::desktop {

namespace {

constexpr std::int64_t DrainUs = 100'000;
const std::string Principal = "desktop"; ///< who plans and starts acts

/// Puts an event in the place of one that it makes old.
bool replaces(app::MonitorEvent& old, const app::MonitorEvent& event)
{
    if (auto* run = std::get_if<app::RunMoved>(&old)) {
        const auto* now = std::get_if<app::RunMoved>(&event);
        if (!now || now->now->id != run->now->id)
            return false;
        run->now = now->now;
        return true;
    }
    if (auto* task = std::get_if<app::TaskMoved>(&old)) {
        const auto* now = std::get_if<app::TaskMoved>(&event);
        if (!now || now->task.id != task->task.id)
            return false;
        task->task = now->task;
        return true;
    }
    return false; // every change of an alert counts
}

}

ServiceBridge::ServiceBridge(app::Service& service, app::Monitor& monitor, QString server, QObject* parent)
    : QObject(parent)
    , m_service(service)
    , m_monitor(monitor)
    , m_server(std::move(server))
{
    connect(this, &ServiceBridge::taken, this, &ServiceBridge::drainSoon, Qt::QueuedConnection);
    m_listening = m_monitor.listen([this](const app::MonitorEvent& event) { take(event); });
}

ServiceBridge::~ServiceBridge() = default;

std::int64_t ServiceBridge::nowUs()
{
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

void ServiceBridge::take(const app::MonitorEvent& event)
{
    {
        const std::lock_guard lock(m_mutex);
        if (!std::any_of(m_waiting.begin(), m_waiting.end(), [&](auto& old) { return replaces(old, event); }))
            m_waiting.push_back(event);
    }
    if (m_drainQueued.exchange(true))
        return;
    emit taken(QPrivateSignal());
}

void ServiceBridge::drainSoon()
{
    const std::int64_t wait = std::max<std::int64_t>(0, m_lastDrainUs + DrainUs - nowUs());
    QTimer::singleShot(static_cast<int>(wait / 1000), Qt::PreciseTimer, this, &ServiceBridge::drain);
}

void ServiceBridge::drain()
{
    m_drainQueued = false;
    m_lastDrainUs = nowUs();
    std::vector<app::MonitorEvent> events;
    {
        const std::lock_guard lock(m_mutex);
        events.swap(m_waiting);
    }
    for (const app::MonitorEvent& event : events) {
        if (const auto* run = std::get_if<app::RunMoved>(&event))
            emit runMoved(run->before, run->now);
        else if (const auto* task = std::get_if<app::TaskMoved>(&event))
            emit taskMoved(task->task);
        else
            emit alertMoved(std::get<app::AlertMoved>(event).change);
    }
    Background::start([events = std::move(events)] {}); // the last of an old snapshot of a long run takes time to free
}

void ServiceBridge::ask(QObject* context, std::function<app::JobId(app::Service&)> start, Answer answer)
{
    m_monitor.ask(start, [guard = QPointer(context), answer = std::move(answer)](Result<app::JobResult> result) {
        // The monitor's thread. The application outlives it, `context` may not.
        Background::tell([guard, answer, result = std::move(result)] {
            if (guard)
                answer(result);
        });
    });
}

void ServiceBridge::plan(QObject* context, const QString& run, app::ActRequest request, PlanAnswer answer)
{
    inBackground(
        context,
        [&monitor = m_monitor, run = run.toStdString(), request = std::move(request)] {
            return monitor.plan(run, request, Principal);
        },
        std::move(answer));
}

void ServiceBridge::planToTheEnd(QObject* context, const QString& run, app::ActRequest request, PlanAnswer answer)
{
    plan(context, run, std::move(request),
         [this, context, answer = std::move(answer)](const Result<app::PlanView>& plan) {
             await(context, plan, answer);
         });
}

void ServiceBridge::await(QObject* context, const Result<app::PlanView>& plan, const PlanAnswer& answer)
{
    constexpr int LookMs = 100;
    if (plan && plan->state == "failed") {
        const app::ProblemView problem = plan->problem.value_or(app::ProblemView());
        return answer(fail(Error { parseCode(problem.code).value_or(Code::Internal), problem.text, problem.where,
                                   problem.step, problem.remedy }));
    }
    if (!plan || plan->state != "planning")
        return answer(plan);
    QTimer::singleShot(LookMs, context, [this, context, id = plan->id, answer] {
        planned(context, id,
                [this, context, answer](const Result<app::PlanView>& next) { await(context, next, answer); });
    });
}

void ServiceBridge::planned(QObject* context, const std::string& plan, PlanAnswer answer)
{
    inBackground(
        context, [&monitor = m_monitor, plan] { return monitor.planned(plan); }, std::move(answer));
}

void ServiceBridge::dropPlan(const std::string& plan)
{
    Background::start([&monitor = m_monitor, plan] { monitor.dropPlan(plan); });
}

void ServiceBridge::start(QObject* context, const app::PlanView& plan, TaskAnswer answer)
{
    inBackground(
        context, [&monitor = m_monitor, id = plan.id, hash = plan.hash] { return monitor.start(id, hash, Principal); },
        std::move(answer));
}

void ServiceBridge::steer(QObject* context, const std::string& task, Steer how, TaskAnswer answer)
{
    inBackground(
        context, [&monitor = m_monitor, task, how] { return (monitor.*how)(task); }, std::move(answer));
}

} // namespace deltascope::desktop
