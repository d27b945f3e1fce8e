#include "hub_watch.h"

#include "hub_follower.h"

#include "deltascope/base/threads.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace deltascope::hub {

namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds WatchSlice { 20 }; // a stop request is seen after at most this
constexpr Milliseconds FirstLookWithin { 10'000 };

class HubWatch final : public StoreWatch {
public:
    HubWatch(std::unique_ptr<HubFollower> follower, std::shared_ptr<HubSignal> signal, const FollowTimes& times,
             std::string where)
        : m_follower(std::move(follower))
        , m_signal(std::move(signal))
        , m_times(times)
        , m_where(std::move(where))
    {
    }
    ~HubWatch() override
    {
        m_task.requestStop();
        if (m_thread.joinable())
            m_thread.join();
    }
    HubWatch(const HubWatch&) = delete;
    HubWatch& operator=(const HubWatch&) = delete;

    Result<void> start()
    {
        Result<std::jthread> thread = startThread([this] {
            static_cast<void>(caught([this]() -> Result<void> {
                m_follower->run(m_task);
                return {};
            })); // without it wait() still says at times that something may have changed
        });
        if (!thread) {
            thread.error().where = m_where;
            return fail(std::move(thread.error()));
        }
        m_thread = std::move(*thread);
        return {};
    }

    Result<bool> wait(Milliseconds timeout, TaskContext& task) override
    {
        const auto start = SteadyClock::now();
        for (;;) {
            if (Result<void> going = task.going(); !going) {
                going.error().where = m_where;
                return fail(std::move(going.error()));
            }
            const auto elapsed = std::chrono::duration_cast<Milliseconds>(SteadyClock::now() - start);
            const Milliseconds left = timeout - std::min(elapsed, timeout);
            if (m_signal->wait(std::min(WatchSlice, left)) || SteadyClock::now() - m_lastLook > m_times.lookAnyway) {
                m_lastLook = SteadyClock::now();
                return true;
            }
            if (left.count() <= 0)
                return false;
        }
    }

private:
    const std::unique_ptr<HubFollower> m_follower;
    const std::shared_ptr<HubSignal> m_signal;
    const FollowTimes m_times;
    const std::string m_where;
    SteadyClock::time_point m_lastLook = SteadyClock::now();
    TaskContext m_task;
    std::jthread m_thread; ///< last: it uses all of the above
};

} // namespace

void HubSignal::raise()
{
    const std::lock_guard lock(m_mutex);
    m_isRaised = true;
    m_changed.notify_all();
}

bool HubSignal::wait(Milliseconds time)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, time, [this] { return m_isRaised; });
    return std::exchange(m_isRaised, false);
}

Result<std::unique_ptr<StoreWatch>> watchBucket(std::shared_ptr<const BucketApi> bucket, std::string front,
                                                std::shared_ptr<HubSignal> signal, const FollowTimes& times)
{
    // The time from which on changes count must be known before this returns.
    http::Request request = bucket->hub().request("GET", bucket->route());
    request.finishWithin = FirstLookWithin;
    TaskContext task;
    const Result<http::Response> answer = bucket->hub().direct()->send(request, task);
    std::string since;
    if (answer && answer->isGood()) {
        if (const Result<BucketInfo> info = parseBucketInfo(answer->body))
            since = info->updatedAt;
    } else if (answer) {
        Error error = hubError(*answer, bucket->subject(), bucket->hub().hasToken());
        if (error.code == Code::Auth || error.code == Code::NotFound)
            return fail(std::move(error));
    }
    if (since.empty())
        signal->raise(); // nothing tells what changed before the stream begins
    std::string where = bucket->id();
    auto follower = std::make_unique<HubFollower>(std::move(bucket), std::move(front), signal, times, std::move(since));
    auto watch = std::make_unique<HubWatch>(std::move(follower), std::move(signal), times, std::move(where));
    DS_CHECK(watch->start());
    return watch;
}

} // namespace deltascope::hub
