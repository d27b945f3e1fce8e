#include "moment.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>

namespace deltascope::bundle {

namespace {

using StepKeys = std::set<std::pair<int, std::int64_t>>; ///< epoch, step

/// The versions of the newest epoch that a monitor still verifies by itself.
StepKeys unverifiedOf(const app::RunSnapshot& snapshot)
{
    StepKeys keys;
    for (const app::StepView* step : app::newestSteps(*snapshot.run)) {
        if (step->state != "publishing" && !snapshot.verified.contains({ step->epoch, step->step }))
            keys.emplace(step->epoch, step->step);
    }
    return keys;
}

/// What is there when everything was replayed for the first time is waited for. What comes later is not: a run that
/// grows faster than it is verified has no end.
class Awaited {
public:
    bool isDone(const app::RunSnapshot& snapshot, const StepKeys& unverified)
    {
        if (!snapshot.run || !snapshot.run->settled)
            return false;
        if (!m_steps)
            m_steps = unverified;
        std::erase_if(*m_steps, [&](const auto& step) { return !unverified.contains(step); });
        return m_steps->empty();
    }

private:
    std::optional<StepKeys> m_steps;
};

}

Result<Moment> holdMoment(app::Monitor& monitor, const std::string& run, const Stopped& stopped)
{
    std::mutex mutex;
    std::condition_variable moved;
    const std::shared_ptr<void> listening = monitor.listen([&](const app::MonitorEvent&) {
        const std::lock_guard lock(mutex);
        moved.notify_all();
    });
    Awaited awaited;
    std::unique_lock lock(mutex);
    for (;;) {
        Moment moment { monitor.runs(), monitor.run(run), monitor.alerts().list({}) };
        if (const auto& error = moment.run->error)
            return fail(Error { parseCode(error->code).value_or(Code::Io), error->text, error->where, error->step,
                                error->remedy });
        const StepKeys unverified = moment.run->run ? unverifiedOf(*moment.run) : StepKeys();
        const bool isDone = awaited.isDone(*moment.run, unverified);
        moment.unverified = unverified.size();
        if (isDone && monitor.runs() == moment.runs) // so the alerts are those of these runs
            return moment;
        if (stopped())
            return fail(Code::Canceled, "stopped; no bundle was made", moment.run->name);
        if (!isDone)
            moved.wait_for(lock, std::chrono::seconds(1)); // a run that moved before the lock was taken wakes nobody
    }
}

} // namespace deltascope::bundle
