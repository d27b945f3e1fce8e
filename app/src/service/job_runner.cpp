#include "job_runner.h"

#include "deltascope/base/threads.h"

#include <algorithm>

namespace deltascope::app {

namespace {

constexpr auto Tick = std::chrono::milliseconds(100);
constexpr auto RateWindow = std::chrono::seconds(5);
constexpr double EtaAfterSeconds = 2;
constexpr std::size_t FinishedJobsKept = 200;

double seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}

JobRunner::JobRunner(EventBus& bus, unsigned threads, std::function<void()> whenIdle)
    : m_bus(bus)
    , m_whenIdle(std::move(whenIdle))
{
    for (unsigned i = 0; i < std::max(1U, threads); ++i)
        m_threads.emplace_back([this](std::stop_token stop) { workerLoop(m_tasks, std::move(stop)); });
    for (unsigned i = 0; i < PlanThreads; ++i)
        m_threads.emplace_back([this](std::stop_token stop) { workerLoop(m_plans, std::move(stop)); });
    m_threads.emplace_back([this](std::stop_token stop) { tickerLoop(std::move(stop)); });
}

JobRunner::~JobRunner()
{
    std::vector<std::jthread> threads;
    {
        const std::lock_guard lock(m_mutex);
        for (const auto& [id, job] : m_jobs)
            job->task.requestStop();
        threads.swap(m_threads);
        for (auto& [job, thread] : m_ownThreads)
            threads.push_back(std::move(thread));
        m_ownThreads.clear();
    }
    for (std::jthread& thread : threads)
        thread.request_stop();
    m_tasks.filled.notify_all();
    m_plans.filled.notify_all();
}

JobId JobRunner::start(std::string title, Life life, Work work)
{
    auto job = std::make_shared<Job>();
    std::unique_lock lock(m_mutex);
    job->id = JobId { m_nextId++ };
    job->title = std::move(title);
    job->work = std::move(work);
    m_jobs.emplace(job->id, job);
    // Old results are of no use to anybody.
    for (auto at = m_jobs.begin(); m_jobs.size() > FinishedJobsKept && at != m_jobs.end();)
        at = at->second->state >= JobState::Done ? m_jobs.erase(at) : std::next(at);
    if (life == Life::Long) {
        Result<std::jthread> thread = startThread([this, job] { runJob(job); });
        if (thread) {
            m_ownThreads.emplace_back(job, std::move(*thread));
        } else {
            job->started = Clock::now();
            lock.unlock();
            endJob(*job, fail(std::move(thread.error())));
        }
    } else {
        Queue& queue = life == Life::Plan ? m_plans : m_tasks;
        queue.jobs.push_back(job);
        ++m_atWork;
        queue.filled.notify_one();
    }
    return job->id;
}

std::shared_ptr<JobRunner::Job> JobRunner::find(JobId id) const
{
    const std::lock_guard lock(m_mutex);
    const auto at = m_jobs.find(id);
    return at == m_jobs.end() ? nullptr : at->second;
}

void JobRunner::cancel(JobId id)
{
    if (const std::shared_ptr<Job> job = find(id))
        job->task.requestStop();
}

void JobRunner::pause(JobId id)
{
    if (const std::shared_ptr<Job> job = find(id))
        job->task.pause();
}

void JobRunner::resume(JobId id)
{
    if (const std::shared_ptr<Job> job = find(id))
        job->task.resume();
}

std::vector<JobView> JobRunner::jobs() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<JobView> views;
    for (const auto& [id, job] : m_jobs)
        views.push_back(view(*job));
    return views;
}

std::optional<JobView> JobRunner::job(JobId id) const
{
    const std::lock_guard lock(m_mutex);
    const auto at = m_jobs.find(id);
    return at == m_jobs.end() ? std::nullopt : std::optional(view(*at->second));
}

void JobRunner::workerLoop(Queue& queue, std::stop_token stop)
{
    for (;;) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(m_mutex);
            if (!queue.filled.wait(lock, stop, [&] { return !queue.jobs.empty(); }))
                return;
            job = std::move(queue.jobs.front());
            queue.jobs.pop_front();
        }
        runJob(job);
        leaveWork();
    }
}

void JobRunner::runJob(const std::shared_ptr<Job>& job)
{
    {
        const std::lock_guard lock(m_mutex);
        job->state = JobState::Running;
        job->started = Clock::now();
    }
    Result<JobResult> outcome = fail(Code::Canceled, "stopped before it began");
    if (!job->task.stopRequested())
        outcome = caught([&] { return job->work(job->id, job->task); });
    endJob(*job, std::move(outcome));
}

void JobRunner::endJob(Job& job, Result<JobResult> outcome)
{
    {
        const std::lock_guard lock(m_mutex);
        job.ended = Clock::now();
        job.state = outcome                          ? JobState::Done
            : outcome.error().code == Code::Canceled ? JobState::Canceled
                                                     : JobState::Failed;
        job.work = nullptr;
    }
    const std::lock_guard publishing(m_publishing);
    m_bus.publish(JobFinished { job.id, std::move(outcome) });
}

/// A job has ended that is not long-lived.
void JobRunner::leaveWork()
{
    {
        const std::lock_guard lock(m_mutex);
        if (--m_atWork > 0)
            return;
    }
    if (m_whenIdle)
        m_whenIdle();
}

/// Threads that end now, or have.
std::vector<std::jthread> JobRunner::takeEndedThreads()
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::jthread> ended;
    std::erase_if(m_ownThreads, [&](auto& own) {
        const bool hasEnded = own.first->state >= JobState::Done;
        if (hasEnded)
            ended.push_back(std::move(own.second));
        return hasEnded;
    });
    return ended;
}

void JobRunner::tickerLoop(std::stop_token stop)
{
    while (!stop.stop_requested()) {
        std::vector<std::shared_ptr<Job>> running;
        {
            std::unique_lock lock(m_mutex);
            m_tick.wait_for(lock, stop, Tick, [] { return false; });
            for (const auto& [id, job] : m_jobs) {
                if (job->state != JobState::Running)
                    continue;
                sample(*job);
                running.push_back(job);
            }
        }
        takeEndedThreads(); // and waits for them, holding no lock that they need
        const std::lock_guard publishing(m_publishing);
        for (const std::shared_ptr<Job>& job : running) {
            std::optional<JobView> now = this->job(job->id);
            if (now && now->state < JobState::Done)
                m_bus.publish(JobProgressed { std::move(*now) });
        }
    }
}

void JobRunner::sample(Job& job)
{
    const Progress progress = job.task.progress();
    const Clock::time_point now = Clock::now();
    const bool beganAnew = !job.samples.empty() && progress.doneBytes < job.samples.back().second; // under one name
    if (progress.phase != job.sampledPhase || beganAnew) {
        job.sampledPhase = progress.phase;
        job.samples.clear();
    }
    job.samples.emplace_back(now, progress.doneBytes);
    while (now - job.samples.front().first > RateWindow)
        job.samples.pop_front();
}

JobView JobRunner::view(const Job& job)
{
    JobView view;
    view.id = job.id;
    view.title = job.title;
    view.state = job.state == JobState::Running && job.task.paused() ? JobState::Paused : job.state;
    const Progress progress = job.task.progress();
    view.phase = progress.phase;
    view.doneBytes = progress.doneBytes;
    view.totalBytes = progress.totalBytes;
    if (job.state == JobState::Queued)
        return view;
    view.seconds = seconds((job.state == JobState::Running ? Clock::now() : job.ended) - job.started);
    if (job.samples.size() < 2)
        return view;
    const double span = seconds(job.samples.back().first - job.samples.front().first);
    if (span > 0)
        view.bytesPerSecond = static_cast<double>(job.samples.back().second - job.samples.front().second) / span;
    if (span >= EtaAfterSeconds && view.bytesPerSecond > 0 && view.totalBytes > view.doneBytes)
        view.secondsLeft = static_cast<double>(view.totalBytes - view.doneBytes) / view.bytesPerSecond;
    return view;
}

} // namespace deltascope::app
