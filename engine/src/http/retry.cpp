#include "deltascope/engine/http_retry.h"

#include "deltascope/engine/http_url.h"
#include "header_text.h"

#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>
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
        for (;;) {
            DS_CHECK(task.going());
            const auto left = end - now();
            if (left.count() <= 0)
                return {};
            std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, Look));
        }
    }
};

bool isWorthRepeating(const Result<Response>& outcome)
{
    return (outcome ? errorOfStatus(outcome->status, {}).code : outcome.error().code) == Code::Transient;
}

std::string outageText(const std::string& url, std::chrono::system_clock::time_point since)
{
    const Result<Url> parsed = Url::parse(url);
    return fmt::format("waiting for {} since {:%H:%M:%S} UTC", parsed ? parsed->authority() : "the store",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(since)));
}

}

std::shared_ptr<RetryClock> systemRetryClock() { return std::make_shared<SystemRetryClock>(); }

RetryingSender::RetryingSender(Sender& inner, const RetryPolicy& policy, std::shared_ptr<RetryClock> clock)
    : m_inner(inner)
    , m_policy(policy)
    , m_clock(std::move(clock))
    , m_answers(policy.hasAnswered ? 1 : 0)
{
}

Result<Response> RetryingSender::send(const Request& request, TaskContext& task)
{
    const auto end = m_clock->now() + m_policy.finishWithin;
    Request attempt = request;
    std::optional<TaskContext::Wait> wait;
    int counted = 1;
    for (int number = 1;; ++number) {
        const std::uint64_t answers = this->answers();
        const auto left = std::chrono::ceil<milliseconds>(end - m_clock->now());
        attempt.finishWithin = request.finishWithin.count() > 0 ? std::min(request.finishWithin, left) : left;
        Result<Response> outcome = m_inner.send(attempt, task);
        if (!isWorthRepeating(outcome)) {
            if (outcome)
                noteAnswer();
            return outcome;
        }
        const std::optional<Silence> silence = noteFailure(answers);
        if (!isRepeatable(request))
            return outcome;
        const auto now = m_clock->now();
        const auto outageEnd = silence ? silence->began + m_policy.longestOutage : now;
        const bool isOutage = task.isPatient() && now < outageEnd;
        if (!silence)
            wait.reset();
        if (!isOutage && (wait || counted++ >= m_policy.mostAttempts))
            return outcome;
        const milliseconds pause =
            pauseAfter(number, isOutage ? m_policy.longestOutagePause : m_policy.longestPause, outcome);
        if (now + pause >= (isOutage ? std::min(end, outageEnd) : end))
            return outcome;
        if (isOutage && !wait)
            wait.emplace(task, outageText(request.url, silence->beganOn));
        DS_CHECK(m_clock->pause(pause, task));
        attempt.isRetry = true;
    }
}

std::uint64_t RetryingSender::answers()
{
    const std::lock_guard lock(m_mutex);
    return m_answers;
}

void RetryingSender::noteAnswer()
{
    const std::lock_guard lock(m_mutex);
    ++m_answers;
    m_silence.reset();
}

std::optional<RetryingSender::Silence> RetryingSender::noteFailure(std::uint64_t answers)
{
    const std::lock_guard lock(m_mutex);
    if (m_answers == 0 || m_answers != answers) // it was never there, or it answers others
        return std::nullopt;
    const auto now = m_clock->now();
    if (!m_silence || now - m_silence->lastFailure > m_policy.longestOutage) // nobody has asked meanwhile
        m_silence = Silence { now, now, m_clock->date() };
    m_silence->lastFailure = now;
    return m_silence;
}

milliseconds RetryingSender::pauseAfter(int attempt, milliseconds longest, const Result<Response>& outcome) const
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
    return part(std::min(grown, longest));
}

} // namespace deltascope::http
