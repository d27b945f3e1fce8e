#include "remote_monitor.h"

#include "deltascope/base/threads.h"

#include "view/act_request_json.h"
#include "view/io/json_reader.h"
#include "view/plan_description.h"
#include "view/task_description.h"

#include <algorithm>

namespace deltascope::app {

namespace {

constexpr auto FirstPause = std::chrono::milliseconds(500);
constexpr auto LongestPause = std::chrono::seconds(15);
constexpr auto RefusedPause = std::chrono::seconds(60); ///< a server locks out who tries more often

std::int64_t nowUs()
{
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}

RemoteMonitor::RemoteMonitor(Wire& wire, RemoteRuns& runs, RemoteService& service)
    : m_wire(wire)
    , m_runs(runs)
    , m_alerts(wire)
    , m_contactUs(nowUs())
    , m_answers(service)
    , m_thread([this](const std::stop_token& stop) { loop(stop); })
{
}

RemoteMonitor::~RemoteMonitor()
{
    m_wire.stop();
    m_thread.request_stop();
}

std::string RemoteMonitor::follow(SourceRequest request, std::string, bool)
{
    const auto run = m_runs.ofSource(request.source.text(), request.base.text());
    return run ? (*run)->id : std::string();
}

void RemoteMonitor::unfollow(const std::string&) { }

std::optional<SourceRequest> RemoteMonitor::sourceOf(const std::string& id) const
{
    const std::shared_ptr<const RunSnapshot> found = run(id);
    if (!found)
        return std::nullopt;
    SourceRequest source;
    source.source = found->source;
    source.base = found->base;
    return source;
}

// --- acts ------------------------------------------------------------------------------------------------------------

Result<PlanView> RemoteMonitor::plan(const std::string& run, const ActRequest& request, const std::string&)
{
    DS_TRY(const std::string answer, m_wire.post("runs/" + pathPart(run) + "/plans", jsonOf(request).dump()));
    DS_TRY(PlanView plan, readJson(answer, readAs<PlanView>));
    const std::lock_guard lock(m_mutex);
    m_requests.insert_or_assign(plan.id, request);
    return plan;
}

Result<PlanView> RemoteMonitor::planned(const std::string& plan)
{
    DS_TRY(const std::string answer, m_wire.get("plans/" + pathPart(plan)));
    return readJson(answer, readAs<PlanView>);
}

void RemoteMonitor::dropPlan(const std::string& plan)
{
    static_cast<void>(m_wire.post("plans/" + pathPart(plan) + "/drop", "{}")); // the server forgets old ones by itself
    const std::lock_guard lock(m_mutex);
    m_requests.erase(plan);
}

Result<TaskView> RemoteMonitor::start(const std::string& plan, const std::string& hash, const std::string&)
{
    DS_TRY(const std::string answer, m_wire.post("plans/" + pathPart(plan) + "/run", json { { "hash", hash } }.dump()));
    DS_TRY(TaskView task, readJson(answer, readAs<TaskView>));
    const std::lock_guard lock(m_mutex);
    if (const auto request = m_requests.find(plan); request != m_requests.end())
        m_started.insert_or_assign(hash, request->second);
    return task;
}

Result<TaskView> RemoteMonitor::steer(const std::string& id, const std::string& verb)
{
    DS_TRY(const std::string answer, m_wire.post("tasks/" + pathPart(id) + "/" + verb, "{}"));
    return readJson(answer, readAs<TaskView>);
}

std::vector<TaskView> RemoteMonitor::tasks() const
{
    const std::lock_guard lock(m_mutex);
    return m_tasks;
}

std::optional<TaskView> RemoteMonitor::task(const std::string& id) const
{
    const std::lock_guard lock(m_mutex);
    const auto found =
        std::find_if(m_tasks.begin(), m_tasks.end(), [&](const TaskView& task) { return task.id == id; });
    return found == m_tasks.end() ? std::nullopt : std::optional(*found);
}

std::optional<ActRequest> RemoteMonitor::requestOf(const std::string& task) const
{
    const std::optional<TaskView> known = this->task(task);
    const std::lock_guard lock(m_mutex);
    const auto request = known ? m_started.find(known->plan.hash) : m_started.end();
    return request == m_started.end() ? std::nullopt : std::optional(request->second);
}

// --- keeping up ------------------------------------------------------------------------------------------------------

void RemoteMonitor::loop(const std::stop_token& stop)
{
    Clock::duration pause = FirstPause;
    while (!stop.stop_requested()) {
        const Clock::time_point began = Clock::now();
        const Result<void> end = caught([&] { return stay(stop); });
        if (end || stop.stop_requested())
            return;
        lose(end.error());
        if (Clock::now() - began > LongestPause)
            pause = FirstPause;
        const bool refused = end.error().code == Code::Auth;
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, stop, refused ? Clock::duration(RefusedPause) : pause, [this] { return m_hurry; });
        pause = std::min<Clock::duration>(2 * pause, LongestPause);
    }
}

Result<void> RemoteMonitor::stay(const std::stop_token& stop)
{
    constexpr auto Wait = std::chrono::milliseconds(200);
    {
        const std::lock_guard lock(m_mutex);
        m_hurry = false;
    }
    // The stream first: it reports what moves while everything is fetched.
    DS_TRY(const std::unique_ptr<EventSource> source, openStream(stop));
    m_listMoved = m_tasksMoved = m_alertsMoved = true;
    while (!stop.stop_requested()) {
        DS_CHECK(fetchWhatMoved());
        const Result<std::vector<ServerEvent>> events = source->wait(Wait);
        m_contactUs = source->heardUs();
        if (!events)
            return fail(events.error());
        for (const ServerEvent& event : *events)
            note(event);
    }
    return {};
}

Result<std::unique_ptr<EventSource>> RemoteMonitor::openStream(const std::stop_token& stop)
{
    constexpr const char* Topics = "run,task,alert";
    const auto stopped = [&] { return stop.stop_requested(); };
    Result<std::unique_ptr<EventSource>> source = EventSource::open(m_wire, Topics, stopped);
    if (source || source.error().code != Code::Auth)
        return source;
    DS_CHECK(m_wire.signIn()); // sessions end with the daemon
    return EventSource::open(m_wire, Topics, stopped);
}

void RemoteMonitor::tryAgain()
{
    const std::lock_guard lock(m_mutex);
    m_hurry = true;
    m_wake.notify_all();
}

void RemoteMonitor::note(const ServerEvent& event)
{
    if (event.type == "reset") {
        m_listMoved = m_tasksMoved = m_alertsMoved = true;
    } else if (event.type == "alert") {
        m_alertsMoved = true;
    } else if (event.type == "task") {
        if (auto task = readJson(event.data, readAs<TaskView>))
            takeTask(std::move(*task));
    } else if (event.type == "run") {
        const auto moved = readJson(event.data, [](const json& from) {
            return std::pair(read<std::string>(from, "id"), read<std::uint64_t>(from, "rev"));
        });
        if (!moved)
            return;
        const MirroredRun* copy = m_runs.copyOf(moved->first);
        if (!copy)
            m_listMoved = true;
        else if (copy->serverRevision() < moved->second)
            m_moved.insert(moved->first);
    }
}

Result<void> RemoteMonitor::fetchWhatMoved()
{
    if (std::exchange(m_alertsMoved, false))
        DS_CHECK(fetchAlerts());
    if (std::exchange(m_listMoved, false))
        DS_CHECK(fetchRuns());
    for (const std::string& id : std::exchange(m_moved, {}))
        DS_CHECK(fetchRun(id));
    if (std::exchange(m_tasksMoved, false))
        DS_CHECK(fetchTasks());
    m_toldLost = false;
    return {};
}

Result<void> RemoteMonitor::fetchRuns()
{
    DS_TRY(const std::string answer, m_wire.get("runs"));
    DS_TRY(const std::vector<std::string> ids, readJson(answer, [](const json& from) {
               return readEach(from, "runs", [](const json& run) { return read<std::string>(run, "id"); });
           }));
    m_runs.keepOnly(ids);
    m_moved.clear();
    for (const std::string& id : ids)
        DS_CHECK(fetchRun(id));
    return {};
}

Result<void> RemoteMonitor::fetchRun(const std::string& id)
{
    WireQuery query;
    if (const MirroredRun* copy = m_runs.copyOf(id); copy && !copy->cursor().empty())
        query["since"] = copy->cursor();
    const Result<std::string> answer = m_wire.get("runs/" + pathPart(id) + "/snapshot", query);
    if (!answer && answer.error().code == Code::NotFound)
        return fail(Code::Unsupported, "the server is older than this program and tells no copies of its runs",
                    m_wire.address().host, "use the same version here and there");
    if (!answer)
        return fail(answer.error());
    Result<void> applied;
    auto [before, now] = m_runs.change(id, [&](MirroredRun& run) { applied = run.apply(*answer); });
    DS_CHECK(applied);
    m_listeners.tell({ RunMoved { std::move(before), std::move(now) } });
    return {};
}

Result<void> RemoteMonitor::fetchTasks()
{
    DS_TRY(const std::string answer, m_wire.get("tasks"));
    DS_TRY(std::vector<TaskView> tasks,
           readJson(answer, [](const json& from) { return readEach(from, "tasks", readAs<TaskView>); }));
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task)
        takeTask(std::move(*task));
    return {};
}

void RemoteMonitor::takeTask(TaskView task)
{
    {
        const std::lock_guard lock(m_mutex);
        const auto known =
            std::find_if(m_tasks.begin(), m_tasks.end(), [&](const TaskView& old) { return old.id == task.id; });
        if (known == m_tasks.end())
            m_tasks.insert(m_tasks.begin(), task);
        else
            *known = task;
    }
    m_listeners.tell({ TaskMoved { std::move(task) } });
}

Result<void> RemoteMonitor::fetchAlerts()
{
    DS_TRY(std::vector<AlertChange> changes, m_alerts.refresh());
    for (AlertChange& change : changes)
        m_listeners.tell({ AlertMoved { std::move(change) } });
    return {};
}

void RemoteMonitor::lose(const Error& error)
{
    std::optional<ProblemView> problem;
    if (error.code != Code::Transient)
        problem = problemView(error);
    if (std::exchange(m_toldLost, true) && !problem)
        return;
    for (const auto& run : m_runs.all()) {
        auto [before, now] = m_runs.change(run->id, [&](MirroredRun& copy) { copy.lose(problem, m_contactUs); });
        m_listeners.tell({ RunMoved { std::move(before), std::move(now) } });
    }
}

} // namespace deltascope::app
