#include "store/xet/shard_post.h"

#include "store/xet/shard_answer.h"

#include <fmt/format.h>

namespace deltascope::xet {

namespace {

constexpr int ShardBad = 400;
constexpr int ShardNotFound = 404;
constexpr int ShardCallUnknown = 501;

Error errorOfAnswer(const ShardAnswer& answer)
{
    const std::string text = answer.complaint().empty() ? "the store ends its answer to a shard too early"
                                                        : "the store does not take a shard: " + answer.complaint();
    return { answer.isRetryable() ? Code::Transient : Code::Io, text, {}, std::nullopt, {} };
}

}

Result<void> ShardPost::send(const std::string& shard, bool& isRefused, TaskContext& task)
{
    constexpr int MostAttempts = 3;
    const std::shared_ptr<const http::Body> body = http::bodyOf(shard);
    std::chrono::milliseconds pause { 1'000 };
    for (int attempt = 1;; ++attempt) {
        Outcome outcome = sendOnce(m_hasV2, body, task);
        if (outcome.isMissing && m_hasV2) {
            outcome = sendOnce(false, body, task);
            m_hasV2 = !outcome.result.has_value();
        }
        isRefused = outcome.isRefused;
        if (outcome.result || !outcome.isRetryable || attempt == MostAttempts)
            return outcome.result;
        DS_CHECK(m_clock->pause(pause, task));
        pause *= 2;
    }
}

ShardPost::Outcome ShardPost::sendOnce(bool isSecondForm, const std::shared_ptr<const http::Body>& body,
                                       TaskContext& task)
{
    ShardAnswer lines;
    http::Request request;
    request.method = "POST";
    request.url = isSecondForm ? "/v2/shards" : "/v1/shards";
    request.headers.add("Content-Type", "application/octet-stream");
    request.body = body;
    request.repeatable = true; // it says the same each time
    request.stallWithin = std::chrono::minutes(10); // v1 is silent until all is done
    if (isSecondForm)
        request.destination = &lines;
    std::string address;
    const Result<http::Response> response = m_cas.send(Scope::Write, std::move(request), task, &address);
    if (!response)
        return { fail(response.error()), false, false, false };
    const int status = response->status;
    if (!response->isGood())
        return { fail(http::errorOfStatus(status, address)), false, status == ShardBad || status == ShardNotFound,
                 status == ShardNotFound || status == ShardCallUnknown };
    if (!isSecondForm || lines.isDone())
        return {};
    return { fail(errorOfAnswer(lines)), lines.isRetryable(), !lines.isRetryable(), false };
}

} // namespace deltascope::xet
