#include "deltascope/app/monitor.h"
#include "deltascope/base/threads.h"

#include "acts.h"
#include "followed_run.h"
#include "listeners.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace deltascope::app {

namespace {

std::int64_t systemNowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// What may stand in an address: the last part of a source's path.
std::string idOf(const std::string& source)
{
    constexpr std::string_view Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const std::size_t end = source.find_last_not_of('/');
    const std::size_t begin = source.rfind('/', end) + 1;
    std::string id = end == std::string::npos ? std::string() : source.substr(begin, end - begin + 1);
    std::replace_if(
        id.begin(), id.end(), [&](char c) { return Plain.find(c) == std::string_view::npos; }, '-');
    id = id.substr(0, 64);
    return id.find_first_not_of(".-") == std::string::npos ? "run" : id;
}

class ServiceMonitor final : public Monitor {
public:
    ServiceMonitor(Service& service, MonitorOptions options)
        : m_service(service)
        , m_options(std::move(options))
        , m_alerts(m_options.alertRules)
        , m_acts(*this, service, m_options)
        , m_feed(service.subscribe([] {}))
        , m_thread([this](const std::stop_token& stop) { loop(stop); })
    {
    }

    std::string follow(SourceRequest request, std::string name, bool demo) override
    {
        const std::lock_guard lock(m_mutex);
        return add(std::move(request), std::move(name), demo);
    }

    void unfollow(const std::string& id) override
    {
        const std::lock_guard lock(m_mutex);
        for (const FollowedRun& run : m_runs) {
            if (run.snapshot()->id == id)
                run.end(m_service);
        }
        std::erase_if(m_runs, [&](const FollowedRun& run) { return run.snapshot()->id == id; });
        std::erase_if(m_besides, [&](const auto& beside) { return beside.first == id; });
        m_alerts.forget(id);
        m_acts.runForgotten(id);
    }

    std::vector<std::shared_ptr<const RunSnapshot>> runs() const override
    {
        const std::lock_guard lock(m_mutex);
        std::vector<std::shared_ptr<const RunSnapshot>> snapshots;
        for (const FollowedRun& run : m_runs)
            snapshots.push_back(run.snapshot());
        return snapshots;
    }

    std::shared_ptr<const RunSnapshot> run(const std::string& id) const override
    {
        const std::lock_guard lock(m_mutex);
        const FollowedRun* found = findRun(id);
        return found ? found->snapshot() : nullptr;
    }

    std::optional<SourceRequest> sourceOf(const std::string& id) const override
    {
        const std::lock_guard lock(m_mutex);
        const FollowedRun* found = findRun(id);
        return found ? std::optional(found->request()) : std::nullopt;
    }

    void ask(const std::function<JobId(Service&)>& start, std::function<void(Result<JobResult>)> done) override
    {
        const std::lock_guard lock(m_mutex); // the end of the job waits until it is known who asks
        m_asked.emplace(start(m_service), std::move(done));
    }

    Result<PlanView> plan(const std::string& run, const ActRequest& request, const std::string& by) override
    {
        return m_acts.plan(run, request, by);
    }
    Result<PlanView> planned(const std::string& plan) override { return m_acts.planned(plan); }
    void dropPlan(const std::string& plan) override { m_acts.dropPlan(plan); }
    Result<TaskView> start(const std::string& plan, const std::string& hash, const std::string& by) override
    {
        return m_acts.start(plan, hash, by, systemNowUs());
    }
    std::vector<TaskView> tasks() const override { return m_acts.tasks(); }
    std::optional<TaskView> task(const std::string& id) const override { return m_acts.task(id); }
    Result<TaskView> pause(const std::string& id) override { return m_acts.pause(id); }
    Result<TaskView> cancel(const std::string& id) override { return m_acts.cancel(id); }
    Result<TaskView> resume(const std::string& id) override { return m_acts.resume(id, systemNowUs()); }
    std::optional<ActRequest> requestOf(const std::string& task) const override { return m_acts.requestOf(task); }

    Alerts& alerts() noexcept override { return m_alerts; }
    AlertSender* sender() noexcept override { return &m_sender; }

    std::shared_ptr<void> listen(std::function<void(const MonitorEvent&)> listener) override
    {
        return m_listeners.add(std::move(listener));
    }

private:
    const FollowedRun* findRun(const std::string& id) const
    {
        const auto found = std::find_if(m_runs.begin(), m_runs.end(),
                                        [&](const FollowedRun& run) { return run.snapshot()->id == id; });
        return found == m_runs.end() ? nullptr : &*found;
    }

    std::string add(SourceRequest request, std::string name, bool demo)
    {
        const std::string plain = idOf(request.source.text());
        std::string id = plain;
        for (int n = 2; findRun(id); ++n)
            id = plain + "-" + std::to_string(n);
        m_acts.runFollowed(id, request);
        FollowedRun run(id, name.empty() ? plain : std::move(name), std::move(request), demo);
        run.begin(m_service);
        m_runs.push_back(std::move(run));
        m_events.emplace_back(RunMoved { nullptr, m_runs.back().snapshot() });
        return id;
    }

    /// Where several runs lie below an address, each is followed by the address of its own folder: else the one that
    /// grows longest would take the place of the one that is shown. Returns whether `run` begins again there.
    bool followEach(FollowedRun& run, const std::vector<RunPlaceView>& places)
    {
        const std::shared_ptr<const RunSnapshot> before = run.snapshot();
        const SourceRequest whole = run.request();
        const RunPlaceView& shown = places.front();
        const bool moves = shown.isFolder && !shown.place.empty();
        if (moves) {
            run.end(m_service);
            run = FollowedRun(before->id, before->name + "/" + shown.place, whole.below(shown.place), before->demo);
            run.begin(m_service);
            m_acts.runFollowed(before->id, run.request());
            m_alerts.forget(before->id);
            m_events.emplace_back(RunMoved { before, run.snapshot() });
        }
        for (const RunPlaceView& other : places) { // `run` may lie elsewhere after each of them
            if (!other.shown && other.isFolder && m_besides.emplace(before->id, other.place).second)
                add(whole.below(other.place), before->name + "/" + other.place, false);
        }
        return moves;
    }

    void loop(const std::stop_token& stop)
    {
        const auto period = std::min<FollowedRun::Clock::duration>(m_options.retry, std::chrono::seconds(1));
        auto ticked = FollowedRun::Clock::now();
        attempt([this] { m_acts.restore(systemNowUs()); });
        while (!stop.stop_requested()) {
            m_feed->wait(100);
            std::vector<Event> events;
            attempt([&] { events = m_feed->take(); });
            for (Event& event : events) {
                if (const auto error = attempt([&] { std::visit([this](auto& what) { take(what); }, event); }))
                    attempt([&] { std::visit([&](const auto& what) { giveUp(what, *error); }, event); });
            }
            if (FollowedRun::Clock::now() - ticked >= period) {
                ticked = FollowedRun::Clock::now();
                attempt([this] { tick(); });
            }
            attempt([this] { m_acts.tend(systemNowUs()); });
            attempt([this] { tell(); });
        }
        attempt([this] { m_acts.keep(); });
    }

    /// One run that exhausts the memory must not end the watch over the others. Returns what `work` throws.
    template <class Work> static std::optional<Error> attempt(const Work& work)
    {
        const Result<void> outcome = caught([&]() -> Result<void> {
            work();
            return {};
        });
        return outcome ? std::nullopt : std::optional(outcome.error());
    }

    // What an event tells that could not be taken: its job has failed.
    void giveUp(const RunChanged& changed, const Error& error)
    {
        m_service.cancel(changed.job);
        const std::lock_guard lock(m_mutex);
        takeEnd({ changed.job, fail(error) });
    }
    void giveUp(const JobFinished& finished, const Error& error)
    {
        const std::lock_guard lock(m_mutex);
        takeEnd({ finished.job, fail(error) });
    }
    void giveUp(const JobProgressed&, const Error&) { }
    void giveUp(const Published&, const Error&) { }

    void take(RunChanged& changed)
    {
        const std::lock_guard lock(m_mutex);
        const auto watched = [&] {
            return std::find_if(m_runs.begin(), m_runs.end(),
                                [&](const FollowedRun& run) { return run.watchedBy(changed.job); });
        };
        if (watched() == m_runs.end())
            return;
        if (!changed.run->runs.empty() && followEach(*watched(), changed.run->runs))
            return;
        FollowedRun& run = *watched();
        const std::shared_ptr<const RunSnapshot> before = run.snapshot();
        run.take(changed, systemNowUs());
        checkAlerts(run);
        run.verifyNext(m_service, m_options.verifyLevel);
        m_events.emplace_back(RunMoved { before, run.snapshot() });
    }

    void take(JobProgressed& progressed)
    {
        m_acts.take(progressed.job);
        const std::lock_guard lock(m_mutex);
        for (FollowedRun& run : m_runs) {
            const std::shared_ptr<const RunSnapshot> before = run.snapshot();
            if (run.watchedBy(progressed.job.id) && run.takeProgress(progressed.job.phase))
                m_events.emplace_back(RunMoved { before, run.snapshot() });
        }
    }

    void take(JobFinished& finished)
    {
        std::function<void(Result<JobResult>)> asker;
        {
            const std::lock_guard lock(m_mutex);
            if (const auto asked = m_asked.find(finished.job); asked != m_asked.end()) {
                asker = std::move(asked->second);
                m_asked.erase(asked);
            } else {
                takeEnd(finished);
            }
        }
        if (asker)
            asker(std::move(finished.outcome));
    }

    void take(Published&) { }

    void takeEnd(const JobFinished& finished)
    {
        for (FollowedRun& run : m_runs) {
            const std::shared_ptr<const RunSnapshot> before = run.snapshot();
            if (run.watchedBy(finished.job)) {
                run.takeFailure(finished.outcome ? Error { Code::Canceled, "no longer followed", {}, {}, {} }
                                                 : finished.outcome.error(),
                                FollowedRun::Clock::now());
            } else if (run.verifiedBy(finished.job)) {
                run.takeVerification(finished.outcome, systemNowUs());
                run.verifyNext(m_service, m_options.verifyLevel);
            } else {
                continue;
            }
            m_events.emplace_back(RunMoved { before, run.snapshot() });
            return;
        }
        if (const std::optional<Tasks::Ended> ended = m_acts.takeEnd(m_service, finished.job, finished.outcome))
            addVerdicts(ended->task, ended->beganUs);
    }

    /// A verification that somebody asked for tells as much as one in the background.
    void addVerdicts(const TaskView& task, std::int64_t beganUs)
    {
        const auto* view = task.result ? std::get_if<std::shared_ptr<const VerifyView>>(&*task.result) : nullptr;
        for (FollowedRun& run : m_runs) {
            if (!view || run.snapshot()->id != task.plan.run)
                continue;
            const std::shared_ptr<const RunSnapshot> before = run.snapshot();
            run.addVerdicts(**view, beganUs, systemNowUs());
            checkAlerts(run);
            m_events.emplace_back(RunMoved { before, run.snapshot() });
        }
    }

    void tick()
    {
        const std::lock_guard lock(m_mutex);
        for (FollowedRun& run : m_runs) {
            const std::shared_ptr<const RunSnapshot> before = run.snapshot();
            if (run.wantsRetry(FollowedRun::Clock::now(), m_options.retry)) {
                if (const auto error = attempt([&] { run.begin(m_service); }))
                    run.takeFailure(*error, FollowedRun::Clock::now());
            }
            checkAlerts(run);
            if (run.snapshot() != before)
                m_events.emplace_back(RunMoved { before, run.snapshot() });
        }
    }

    void checkAlerts(FollowedRun& run)
    {
        for (AlertChange& change : m_alerts.update(*run.snapshot(), systemNowUs())) {
            if (change.notify)
                m_sender.send(change.alert, systemNowUs());
            m_events.emplace_back(AlertMoved { std::move(change) });
        }
        std::uint64_t firing = 0;
        std::optional<AlertLevel> worst;
        for (const AlertView& alert : m_alerts.list(run.snapshot()->id).alerts) {
            if (alert.state == AlertState::Cleared)
                continue;
            ++firing;
            worst = std::max(worst.value_or(alert.level), alert.level);
        }
        run.setAlerts(firing, worst ? word(*worst) : std::string());
    }

    void tell()
    {
        std::vector<MonitorEvent> events;
        {
            const std::lock_guard lock(m_mutex);
            for (TaskView& task : m_acts.takeMoved())
                m_events.emplace_back(TaskMoved { std::move(task) });
            events.swap(m_events);
        }
        m_listeners.tell(events);
    }

    Service& m_service;
    const MonitorOptions m_options;
    AlertEngine m_alerts;
    AlertSender m_sender;
    Listeners m_listeners;
    mutable std::mutex m_mutex;
    std::vector<FollowedRun> m_runs;
    std::set<std::pair<std::string, std::string>> m_besides; ///< id of a run, folder of another one followed beside it
    Acts m_acts;
    std::map<JobId, std::function<void(Result<JobResult>)>> m_asked;
    std::vector<MonitorEvent> m_events; ///< to be told
    std::unique_ptr<EventFeed> m_feed;
    std::jthread m_thread; ///< last: it uses everything above
};

}

std::unique_ptr<Monitor> Monitor::create(Service& service, MonitorOptions options)
{
    return std::make_unique<ServiceMonitor>(service, std::move(options));
}

} // namespace deltascope::app
