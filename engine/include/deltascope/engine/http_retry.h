#pragma once

#include "deltascope/engine/http.h"

#include <chrono>
#include <memory>

namespace deltascope::http {

struct RetryPolicy {
    int mostAttempts = 5; ///< the first one included
    /// The pause before attempt n + 1 is a random part of firstPause * 2^(n - 1), at most longestPause.
    std::chrono::milliseconds firstPause { 500 };
    std::chrono::milliseconds longestPause { 30'000 };
    /// All attempts and pauses together. A pause that would end later is not begun.
    std::chrono::milliseconds finishWithin { 900'000 };
};

/// Time and chance as retries see them. Any thread.
class RetryClock {
public:
    virtual ~RetryClock() = default;
    virtual std::chrono::steady_clock::time_point now() const = 0;
    virtual std::chrono::system_clock::time_point date() const = 0;
    virtual double chance() = 0; ///< at least 0, less than 1
    /// Errors: Canceled, within a tenth of a second.
    virtual Result<void> pause(std::chrono::milliseconds time, TaskContext& task) = 0;
};

std::shared_ptr<RetryClock> systemRetryClock();

/// Repeats requests that are repeatable: after Code::Transient, and after an answer with a status that errorOfStatus
/// calls so. A server that says when it can be asked again (Retry-After, or RateLimit with nothing left) is not asked
/// before. The last outcome is the result. Any thread; `inner` must live as long.
class RetryingSender final : public Sender {
public:
    explicit RetryingSender(Sender& inner, const RetryPolicy& policy = {},
                            std::shared_ptr<RetryClock> clock = systemRetryClock());

    /// Request::finishWithin is that of each attempt.
    Result<Response> send(const Request& request, TaskContext& task) override;
    Counters counters() const override { return m_inner.counters(); }

private:
    std::chrono::milliseconds pauseAfter(int attempt, const Result<Response>& outcome) const;

    Sender& m_inner;
    const RetryPolicy m_policy;
    const std::shared_ptr<RetryClock> m_clock;
};

} // namespace deltascope::http
