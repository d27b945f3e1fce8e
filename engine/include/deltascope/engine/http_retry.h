#pragma once

#include "deltascope/engine/http.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace deltascope::http {

struct RetryPolicy {
    int mostAttempts = 5; ///< the first one included
    /// The pause before attempt n + 1 is a random part of firstPause * 2^(n - 1), at most longestPause.
    std::chrono::milliseconds firstPause { 500 };
    std::chrono::milliseconds longestPause { 30'000 };
    /// All attempts and pauses together. A pause that would end later is not begun.
    std::chrono::milliseconds finishWithin { 900'000 };
    /// How long a store that has answered before may be silent, before a long task (TaskContext::Patience) gives up; 0:
    /// attempts in an outage count.
    std::chrono::milliseconds longestOutage { 300'000 };
    std::chrono::milliseconds longestOutagePause { 15'000 };
    bool hasAnswered = false; ///< the store is known to have answered before
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
///
/// An outage: the store has answered before, and since then no request of any thread was answered. In a long task,
/// attempts in an outage do not count; the task says that it waits, and the outage as a whole has its own limit. A
/// first contact is no outage, so a wrong address fails soon.
class RetryingSender final : public Sender {
public:
    explicit RetryingSender(Sender& inner, const RetryPolicy& policy = {},
                            std::shared_ptr<RetryClock> clock = systemRetryClock());

    /// Request::finishWithin is that of each attempt.
    Result<Response> send(const Request& request, TaskContext& task) override;
    Counters counters() const override { return m_inner.counters(); }

private:
    /// Since when no request is answered.
    struct Silence {
        std::chrono::steady_clock::time_point began;
        std::chrono::steady_clock::time_point lastFailure;
        std::chrono::system_clock::time_point beganOn;
    };

    std::chrono::milliseconds pauseAfter(int attempt, std::chrono::milliseconds longest,
                                         const Result<Response>& outcome) const;
    std::uint64_t answers();
    void noteAnswer();
    /// Notes an attempt that failed. Nothing unless the store is in an outage, as an attempt sees it that began when
    /// there were `answers`.
    std::optional<Silence> noteFailure(std::uint64_t answers);

    Sender& m_inner;
    const RetryPolicy m_policy;
    const std::shared_ptr<RetryClock> m_clock;
    std::mutex m_mutex; ///< guards what follows
    std::uint64_t m_answers;
    std::optional<Silence> m_silence;
};

} // namespace deltascope::http
