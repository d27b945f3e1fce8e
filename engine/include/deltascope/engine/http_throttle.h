#pragma once

#include "deltascope/engine/http.h"
#include "deltascope/engine/http_retry.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

// Senders of one store stand in front of the client that all stores share, in this order:
//   Client <- MeteredSender <- ThrottledSender <- RetryingSender
// So each attempt is counted and waits for its turn, pauses between attempts take no turn from others, and the
// counters() of the outermost one are those of the store, retries included.

namespace deltascope::http {

/// A rate that is kept over time: what was not used within `burst` is lost, and what was too much is waited for later.
/// Any thread.
class TokenBucket final : public Pace {
public:
    /// `perSecond`: more than 0; `burst`: how much may pass at once after a rest, at least 0.
    TokenBucket(double perSecond, double burst, std::shared_ptr<RetryClock> clock);

    std::chrono::milliseconds wait() const override;
    void charge(std::uint64_t amount) override;
    /// Charges, and says how long the caller has to wait for its turn; turns are in the order of the calls.
    std::chrono::milliseconds reserve(std::uint64_t amount);

private:
    double balanceNow() const;
    std::chrono::milliseconds untilPaid(double debt) const;

    const double m_perSecond;
    const double m_burst;
    const std::shared_ptr<RetryClock> m_clock;
    mutable std::mutex m_mutex; ///< guards what follows
    double m_balance;
    std::chrono::steady_clock::time_point m_at; ///< when the balance was that
};

struct ThrottlePolicy {
    std::uint64_t bytesPerSecond = 0; ///< of bodies, in both directions together; 0: no limit
    double requestsPerSecond = 0; ///< 0: no limit
};

/// Keeps all requests that go through it together below a limit. Bodies are slowed down while they move. A limit makes
/// requests take longer: Request::finishWithin and RetryPolicy::finishWithin must leave room for that. Any thread;
/// `inner` must live as long.
class ThrottledSender final : public Sender {
public:
    explicit ThrottledSender(Sender& inner, const ThrottlePolicy& policy,
                             std::shared_ptr<RetryClock> clock = systemRetryClock());

    /// Errors: also Canceled while it waits for its turn, within a tenth of a second.
    Result<Response> send(const Request& request, TaskContext& task) override;
    Counters counters() const override { return m_inner.counters(); }

private:
    Sender& m_inner;
    const std::shared_ptr<RetryClock> m_clock;
    std::shared_ptr<TokenBucket> m_bytes; ///< null: no limit; likewise
    std::shared_ptr<TokenBucket> m_requests;
};

/// Counts what goes through it to a Client, which others use too; as bytes move, and also of requests that fail. Any
/// thread; `inner` must live as long.
class MeteredSender final : public Sender {
public:
    explicit MeteredSender(Sender& inner)
        : m_inner(inner)
    {
    }

    Result<Response> send(const Request& request, TaskContext& task) override;
    Counters counters() const override
    {
        return { m_meter->requests, m_meter->retries, m_meter->bytesIn, m_meter->bytesOut };
    }

private:
    Sender& m_inner;
    const std::shared_ptr<Meter> m_meter = std::make_shared<Meter>();
};

} // namespace deltascope::http
