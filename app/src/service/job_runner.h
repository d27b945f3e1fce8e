#pragma once

#include "deltascope/app/events.h"
#include "deltascope/base/task.h"

#include "event_queue.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace deltascope::app {

/// Runs jobs on a fixed number of threads, those that plan on some more, so that a plan waits for no long task, and
/// long-lived ones on a thread of their own that goes when the job ends. Turns their progress into events ten times a
/// second. Any thread. Destruction cancels and waits.
class JobRunner {
public:
    using Work = std::function<Result<JobResult>(JobId, TaskContext&)>;
    enum class Life : std::uint8_t { Short, Plan, Long };
    static constexpr unsigned PlanThreads = 2;

    /// `whenIdle`: called when the last short job or plan has ended and none waits, by the thread that ran it and
    /// without a lock; another one may begin meanwhile. Empty: nothing.
    JobRunner(EventBus& bus, unsigned threads, std::function<void()> whenIdle = {});
    ~JobRunner();

    /// A long-lived job for which the system gives no thread fails with Io.
    JobId start(std::string title, Life life, Work work);
    void cancel(JobId id);
    void pause(JobId id);
    void resume(JobId id);
    std::vector<JobView> jobs() const;
    std::optional<JobView> job(JobId id) const;

private:
    using Clock = std::chrono::steady_clock;

    struct Job {
        JobId id {};
        std::string title;
        Work work;
        TaskContext task;
        JobState state = JobState::Queued;
        Clock::time_point started {};
        Clock::time_point ended {};
        std::deque<std::pair<Clock::time_point, std::uint64_t>> samples; ///< of the last seconds, in one phase
        std::string sampledPhase;
    };

    /// Jobs that wait for one of some threads.
    struct Queue {
        std::deque<std::shared_ptr<Job>> jobs;
        std::condition_variable_any filled;
    };

    std::shared_ptr<Job> find(JobId id) const;
    void workerLoop(Queue& queue, std::stop_token stop);
    void tickerLoop(std::stop_token stop);
    void runJob(const std::shared_ptr<Job>& job);
    void endJob(Job& job, Result<JobResult> outcome);
    void leaveWork();
    std::vector<std::jthread> takeEndedThreads();
    static void sample(Job& job);
    static JobView view(const Job& job);

    EventBus& m_bus;
    std::function<void()> m_whenIdle;
    std::mutex m_publishing; ///< one at a time and before m_mutex, so that no progress follows the end of its job
    mutable std::mutex m_mutex;
    std::condition_variable_any m_tick;
    Queue m_tasks;
    Queue m_plans;
    std::map<JobId, std::shared_ptr<Job>> m_jobs;
    std::uint64_t m_nextId = 1;
    std::size_t m_atWork = 0; ///< short jobs and plans that run or wait
    std::vector<std::jthread> m_threads; ///< of the runner
    std::vector<std::pair<std::shared_ptr<Job>, std::jthread>> m_ownThreads; ///< of long-lived jobs
};

} // namespace deltascope::app
