#include "deltascope/engine/http_throttle.h"

#include <algorithm>
#include <cmath>

namespace deltascope::http {

namespace {

using std::chrono::milliseconds;

constexpr double BurstSeconds = 0.1; ///< of bytes; requests may use up a whole second

double paceSeconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

} // namespace

TokenBucket::TokenBucket(double perSecond, double burst, std::shared_ptr<RetryClock> clock)
    : m_perSecond(perSecond)
    , m_burst(burst)
    , m_clock(std::move(clock))
    , m_balance(burst)
    , m_at(m_clock->now())
{
}

/// Call with the mutex held.
double TokenBucket::balanceNow() const
{
    return std::min(m_burst, m_balance + paceSeconds(m_clock->now() - m_at) * m_perSecond);
}

milliseconds TokenBucket::untilPaid(double debt) const
{
    constexpr double LongestSeconds = 86'400.0 * 365;
    return milliseconds(
        static_cast<std::int64_t>(std::ceil(std::clamp(debt / m_perSecond, 0.0, LongestSeconds) * 1000)));
}

milliseconds TokenBucket::wait() const
{
    const std::lock_guard lock(m_mutex);
    return untilPaid(-balanceNow());
}

void TokenBucket::charge(std::uint64_t amount) { static_cast<void>(reserve(amount)); }

milliseconds TokenBucket::reserve(std::uint64_t amount)
{
    const std::lock_guard lock(m_mutex);
    m_balance = balanceNow() - static_cast<double>(amount);
    m_at = m_clock->now();
    return untilPaid(-m_balance);
}

ThrottledSender::ThrottledSender(Sender& inner, const ThrottlePolicy& policy, std::shared_ptr<RetryClock> clock)
    : m_inner(inner)
    , m_clock(std::move(clock))
{
    const auto bytes = static_cast<double>(policy.bytesPerSecond);
    if (bytes > 0)
        m_bytes = std::make_shared<TokenBucket>(bytes, bytes * BurstSeconds, m_clock);
    if (policy.requestsPerSecond > 0)
        m_requests =
            std::make_shared<TokenBucket>(policy.requestsPerSecond, std::max(1.0, policy.requestsPerSecond), m_clock);
}

Result<Response> ThrottledSender::send(const Request& request, TaskContext& task)
{
    if (m_requests) {
        const milliseconds turn = m_requests->reserve(1);
        if (turn.count() > 0)
            DS_CHECK(m_clock->pause(turn, task));
    }
    if (!m_bytes)
        return m_inner.send(request, task);
    Request paced = request;
    paced.pace = m_bytes;
    return m_inner.send(paced, task);
}

Result<Response> MeteredSender::send(const Request& request, TaskContext& task)
{
    Request metered = request;
    metered.meter = m_meter;
    return m_inner.send(metered, task);
}

} // namespace deltascope::http
