#include "base/grace.h"

#include "deltascope/base/threads.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace deltascope {

namespace {

constexpr auto Grace = std::chrono::milliseconds(250);
constexpr auto LookForStopAgain = std::chrono::milliseconds(20); // a task tells nobody that it is to stop

/// Until it is itself asked to end.
void passStopOn(const TaskContext& stops, TaskContext& task, const std::stop_token& end)
{
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stops.stopRequested() && !end.stop_requested())
        wake.wait_for(lock, end, LookForStopAgain, [] { return false; });
    task.setDeadline(std::chrono::steady_clock::now() + Grace);
}

}

void withGrace(const TaskContext* stops, const std::function<void(TaskContext& task)>& work)
{
    TaskContext task;
    Result<std::jthread> watch; // joined before the task goes
    if (stops)
        watch = startThread([&](const std::stop_token& end) { passStopOn(*stops, task, end); });
    if (!watch && stops->stopRequested()) // nobody would end it
        task.requestStop();
    work(task);
}

} // namespace deltascope
