#include "deltascope/engine/http_retry.h"

#include "header_text.h"

#include <algorithm>
#include <random>
#include <thread>

namespace deltascope::http {

namespace {

using std::chrono::milliseconds;

class SystemRetryClock final : public RetryClock {
public:
    std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }
    std::chrono::system_clock::time_point date() const override { return std::chrono::system_clock::now(); }
    double chance() override
    {
        std::random_device device;
        return std::uniform_real_distribution<double>(0, 1)(device);
    }
    Result<void> pause(milliseconds time, TaskContext& task) override
    {
        constexpr auto Look = milliseconds(50); // a task tells nobody that it is to stop
        const auto end = now() + time;
        while (!task.stopRequested()) {
            const auto left = end - now();
            if (left.count() <= 0)
                return {};
            std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, Look));
        }
        return fail(Code::Canceled, "stopped on request");
    }
};

bool isWorthRepeating(const Result<Response>& outcome)
{
    return (outcome ? errorOfStatus(outcome->status, {}).code : outcome.error().code) == Code::Transient;
}

}

std::shared_ptr<RetryClock> systemRetryClock() { return std::make_shared<SystemRetryClock>(); }

RetryingSender::RetryingSender(Sender& inner, const RetryPolicy& policy, std::shared_ptr<RetryClock> clock)
    : m_inner(inner)
    , m_policy(policy)
    , m_clock(std::move(clock))
{
}

Result<Response> RetryingSender::send(const Request& request, TaskContext& task)
{
    const auto end = m_clock->now() + m_policy.finishWithin;
    Request attempt = request;
    for (int number = 1;; ++number) {
        const auto left = std::chrono::ceil<milliseconds>(end - m_clock->now());
        attempt.finishWithin = request.finishWithin.count() > 0 ? std::min(request.finishWithin, left) : left;
        Result<Response> outcome = m_inner.send(attempt, task);
        if (number >= m_policy.mostAttempts || !isRepeatable(request) || !isWorthRepeating(outcome))
            return outcome;
        const milliseconds pause = pauseAfter(number, outcome);
        if (m_clock->now() + pause >= end)
            return outcome;
        DS_CHECK(m_clock->pause(pause, task));
        attempt.isRetry = true;
    }
}

milliseconds RetryingSender::pauseAfter(int attempt, const Result<Response>& outcome) const
{
    constexpr int MostDoublings = 20;
    const auto part = [this](milliseconds whole) {
        return milliseconds(static_cast<std::int64_t>(static_cast<double>(whole.count()) * m_clock->chance()));
    };
    if (outcome) {
        if (const auto wanted = waitWanted(outcome->headers, m_clock->date()))
            return *wanted + part(m_policy.firstPause); // those who were told the same do not come at once
    }
    const milliseconds grown = m_policy.firstPause * (std::int64_t { 1 } << std::min(attempt - 1, MostDoublings));
    return part(std::min(grown, m_policy.longestPause));
}

} // namespace deltascope::http
