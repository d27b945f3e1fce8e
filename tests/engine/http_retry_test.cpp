#include "deltascope/engine/http_retry.h"

#include "http/header_text.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

// When a request is sent again, and when not; no time passes here.

namespace deltascope::http {
namespace {

using namespace std::chrono_literals;

/// Time that passes only in pauses; chance is always the same.
class ManualClock final : public RetryClock {
public:
    std::chrono::steady_clock::time_point now() const override { return m_now; }
    std::chrono::system_clock::time_point date() const override
    {
        return std::chrono::system_clock::from_time_t(784'111'777); // Sun, 06 Nov 1994 08:49:37 GMT
    }
    double chance() override { return fraction; }
    Result<void> pause(std::chrono::milliseconds time, TaskContext& task) override
    {
        pauses.push_back(time);
        m_now += time;
        if (onPause)
            onPause();
        return task.checkpoint();
    }

    void pass(std::chrono::milliseconds time) { m_now += time; }

    double fraction = 0.5;
    std::vector<std::chrono::milliseconds> pauses;
    std::function<void()> onPause;

private:
    std::chrono::steady_clock::time_point m_now;
};

/// Answers in turn, then with 200.
class FakeSender final : public Sender {
public:
    Result<Response> send(const Request& request, TaskContext&) override
    {
        deadlines.push_back(request.finishWithin);
        retries += request.isRetry ? 1 : 0;
        if (onSend)
            onSend(request);
        Result<Response> outcome = answer(200);
        if (!outcomes.empty()) {
            outcome = outcomes.front();
            outcomes.pop_front();
        }
        return outcome;
    }
    Counters counters() const override { return { deadlines.size(), retries, 0, 0 }; }

    static Response answer(int status, Headers headers = {})
    {
        Response response;
        response.status = status;
        response.headers = std::move(headers);
        return response;
    }

    std::function<void(const Request&)> onSend;
    std::deque<Result<Response>> outcomes;
    std::vector<std::chrono::milliseconds> deadlines;
    std::uint64_t retries = 0;
};

class HttpRetry : public testing::Test {
protected:
    Result<Response> send(const std::string& method = "GET")
    {
        Request request;
        request.method = method;
        return sender().send(request, task);
    }
    RetryingSender sender() { return RetryingSender(inner, policy, clock); }
    void lose(int times)
    {
        for (int i = 0; i < times; ++i)
            inner.outcomes.emplace_back(fail(Code::Transient, "lost"));
    }
    using Pauses = std::vector<std::chrono::milliseconds>;

    FakeSender inner;
    RetryPolicy policy;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    TaskContext task;
};

TEST_F(HttpRetry, RepeatsWhatIsTransientAfterGrowingPauses)
{
    lose(4);
    EXPECT_EQ(send()->status, 200);
    EXPECT_EQ(clock->pauses, (Pauses { 250ms, 500ms, 1000ms, 2000ms }));
}

TEST_F(HttpRetry, PausesAreARandomPartOfTheWhole)
{
    policy = { 9, 500ms, 4000ms, 900s };
    for (const auto& [fraction, longest] : { std::pair(0.0, 0ms), std::pair(0.999'999, 3999ms) }) {
        clock->pauses.clear();
        clock->fraction = fraction;
        lose(8);
        EXPECT_TRUE(send());
        ASSERT_EQ(clock->pauses.size(), 8U);
        EXPECT_EQ(*std::max_element(clock->pauses.begin(), clock->pauses.end()), longest);
    }
}

TEST_F(HttpRetry, RepeatsAnswersThatMayBeBetterLater)
{
    for (const int status : { 408, 429, 500, 502, 503, 504 }) {
        inner.outcomes.emplace_back(FakeSender::answer(status));
        EXPECT_EQ(send()->status, 200) << status;
    }
    for (const int status : { 204, 304, 400, 401, 403, 404, 409, 412, 416, 422, 501 }) {
        inner.outcomes.emplace_back(FakeSender::answer(status));
        EXPECT_EQ(send()->status, status);
    }
}

TEST_F(HttpRetry, RepeatsNothingElse)
{
    for (const Code code : { Code::Usage, Code::Hostile, Code::Io, Code::Canceled, Code::Unsupported }) {
        inner.outcomes.emplace_back(fail(code, "no"));
        EXPECT_EQ(send().error().code, code);
    }
    EXPECT_TRUE(clock->pauses.empty());
}

TEST_F(HttpRetry, APostIsSentOnceUnlessItSaysOtherwise)
{
    lose(1);
    EXPECT_EQ(send("POST").error().code, Code::Transient);
    inner.outcomes.emplace_back(FakeSender::answer(503));
    EXPECT_EQ(send("PATCH")->status, 503);
    EXPECT_EQ(inner.deadlines.size(), 2U);
    Request request;
    request.method = "POST";
    request.repeatable = true;
    lose(1);
    EXPECT_TRUE(sender().send(request, task));
    request.method = "PUT";
    request.repeatable = false;
    lose(1);
    EXPECT_FALSE(sender().send(request, task));
}

TEST_F(HttpRetry, GivesUpAfterTheLastAttemptWithWhatItGot)
{
    policy.mostAttempts = 3;
    lose(2);
    inner.outcomes.emplace_back(FakeSender::answer(503));
    EXPECT_EQ(send()->status, 503);
    EXPECT_EQ(inner.deadlines.size(), 3U);
}

TEST_F(HttpRetry, NoPauseBeginsThatEndsBehindTheDeadline)
{
    policy = { 100, 1s, 1s, 10s };
    lose(100);
    EXPECT_FALSE(send());
    EXPECT_EQ(clock->pauses.size(), 19U);
    EXPECT_EQ(inner.deadlines.front(), 10s);
    EXPECT_EQ(inner.deadlines.back(), 500ms) << "attempts end with the whole";
    clock->pauses.clear();
    inner.outcomes = { FakeSender::answer(429, { { "Retry-After", "3600" } }) };
    EXPECT_EQ(send()->status, 429) << "the caller learns at once that it takes longer than there is";
    EXPECT_TRUE(clock->pauses.empty());
}

TEST_F(HttpRetry, AStopEndsAPause)
{
    lose(2);
    task.requestStop();
    EXPECT_EQ(send().error().code, Code::Canceled);
    EXPECT_EQ(inner.deadlines.size(), 1U);
    EXPECT_EQ(systemRetryClock()->pause(1h, task).error().code, Code::Canceled);
}

TEST_F(HttpRetry, WaitsAsLongAsTheServerWants)
{
    inner.outcomes.emplace_back(FakeSender::answer(503, { { "Retry-After", "7" } }));
    inner.outcomes.emplace_back(FakeSender::answer(429, { { "RateLimit", "\"api\";r=0;t=55" } }));
    EXPECT_TRUE(send());
    EXPECT_EQ(clock->pauses, (Pauses { 7250ms, 56'250ms }));
}

TEST_F(HttpRetry, CountsRetriesWithTheRest)
{
    lose(2);
    RetryingSender retrying = sender();
    ASSERT_TRUE(retrying.send(Request {}, task));
    EXPECT_EQ(retrying.counters().requests, 3U);
    EXPECT_EQ(retrying.counters().retries, 2U);
}

TEST(HttpWait, IsReadInEveryForm)
{
    const auto now = ManualClock().date();
    const auto wanted = [now](const Headers& headers) { return waitWanted(headers, now); };
    EXPECT_EQ(wanted({}), std::nullopt);
    EXPECT_EQ(wanted({ { "retry-after", " 120 " } }), 120s);
    EXPECT_EQ(wanted({ { "Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT" } }), 60s);
    EXPECT_EQ(wanted({ { "Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT" } }), 0s) << "that is over";
    EXPECT_EQ(
        wanted({ { "Retry-After", "Tue, 07 Nov 2034 10:00:30 GMT" }, { "Date", "Tue, 07 Nov 2034 10:00:00 GMT" } }),
        30s)
        << "by the clock of the server";
    EXPECT_EQ(wanted({ { "RateLimit", "\"default\";r=0;t=12" } }), 13s);
    EXPECT_EQ(wanted({ { "RateLimit", "\"default\";r=5;t=12" } }), std::nullopt);
    EXPECT_EQ(wanted({ { "RateLimit", "\"a\";r=5;t=90, \"b\";r=0;t=12, \"c\";r=0;t=7" } }), 13s);
    EXPECT_EQ(wanted({ { "RateLimit", "limit=100, remaining=0, reset=50" } }), 51s);
    EXPECT_EQ(wanted({ { "RateLimit-Remaining", "0" }, { "RateLimit-Reset", "20" } }), 21s);
    EXPECT_EQ(wanted({ { "RateLimit-Remaining", "3" }, { "RateLimit-Reset", "20" } }), std::nullopt);
    EXPECT_EQ(wanted({ { "Retry-After", "5" }, { "RateLimit", "\"api\";r=0;t=55" } }), 56s) << "the longest";
    for (const char* nonsense : { "", "soon", "-5", "1e9", "99999999999999999999", "\"api\";r=;t=x", ";;=,=;" }) {
        EXPECT_EQ(wanted({ { "Retry-After", nonsense }, { "RateLimit", nonsense } }), std::nullopt) << nonsense;
    }
    EXPECT_LE(*wanted({ { "Retry-After", "9000000000000000000" } }), 24h * 366);
}

TEST(HttpContentRange, IsReadStrictly)
{
    const auto range = parseContentRange("bytes 10-14/999");
    ASSERT_TRUE(range);
    EXPECT_EQ(range->range, (ByteRange { 10, 5 }));
    EXPECT_EQ(range->totalBytes, 999U);
    EXPECT_EQ(parseContentRange("bytes 0-0/*")->totalBytes, std::nullopt);
    for (const char* text :
         { "", "bytes", "bytes */999", "bytes 14-10/999", "bytes 10-14/14", "bytes 10-14/", "bytes -5/9",
           "bytes 10/999", "items 10-14/999", "bytes 10-14/999x", "bytes 10-99999999999999999999/*" })
        EXPECT_FALSE(parseContentRange(text)) << text;
}

TEST_F(HttpRetry, ALongTaskWaitsForMinutesForAStoreThatHasAnsweredBefore)
{
    RetryingSender retrying = sender();
    const TaskContext::Patience patience(task);
    ASSERT_TRUE(retrying.send({}, task));
    lose(25);
    task.beginPhase("rebuild", 0);
    Request request;
    request.url = "http://user:secret@store.example:9000/bucket/key?token=1";
    std::string phase;
    clock->onPause = [&] { phase = task.progress().phase; };
    EXPECT_EQ(retrying.send(request, task)->status, 200);
    EXPECT_EQ(phase, "rebuild, waiting for store.example:9000 since 08:49:37 UTC");
    EXPECT_EQ(task.progress().phase, "rebuild");
    EXPECT_EQ(*std::max_element(clock->pauses.begin(), clock->pauses.end()), 7500ms); // half of 15 s
    EXPECT_EQ(retrying.counters().retries, 25U);
}

TEST_F(HttpRetry, AnOutageEndsAfterFiveMinutes)
{
    RetryingSender retrying = sender();
    const TaskContext::Patience patience(task);
    ASSERT_TRUE(retrying.send({}, task));
    const auto began = clock->now();
    lose(1000);
    EXPECT_EQ(retrying.send({}, task).error().code, Code::Transient);
    EXPECT_LE(clock->now() - began, 300s);
    EXPECT_GE(clock->now() - began, 270s);
    EXPECT_FALSE(retrying.send({}, task)); // the same outage
    EXPECT_LE(clock->now() - began, 330s);
    inner.outcomes.clear();
    EXPECT_TRUE(retrying.send({}, task));
    lose(25); // another one has a limit of its own
    EXPECT_TRUE(retrying.send({}, task));
}

TEST_F(HttpRetry, AFailureOfLongAgoIsNotTheSameOutage)
{
    RetryingSender retrying = sender();
    const TaskContext::Patience patience(task);
    ASSERT_TRUE(retrying.send({}, task));
    lose(1);
    Request once;
    once.method = "POST";
    EXPECT_FALSE(retrying.send(once, task));
    clock->pass(1h);
    lose(25);
    EXPECT_TRUE(retrying.send({}, task));
}

TEST_F(HttpRetry, AFirstContactIsNotWaitedFor)
{
    const TaskContext::Patience patience(task);
    lose(1000);
    EXPECT_FALSE(send());
    EXPECT_EQ(inner.deadlines.size(), 5U);
}

TEST_F(HttpRetry, AShortTaskDoesNotWaitThroughAnOutage)
{
    RetryingSender retrying = sender();
    ASSERT_TRUE(retrying.send({}, task));
    lose(1000);
    EXPECT_FALSE(retrying.send({}, task));
    EXPECT_EQ(inner.deadlines.size(), 6U);
}

TEST_F(HttpRetry, WhereTheStoreAnswersOthersItIsNoOutage)
{
    RetryingSender retrying = sender();
    const TaskContext::Patience patience(task);
    ASSERT_TRUE(retrying.send({}, task));
    int asked = 0;
    inner.onSend = [&](const Request& request) {
        if (request.method != "GET")
            return;
        ++asked;
        Request other; // of another thread, while this one fails
        other.method = "HEAD";
        inner.outcomes.emplace_front(FakeSender::answer(200));
        EXPECT_TRUE(retrying.send(other, task));
        inner.outcomes.emplace_front(FakeSender::answer(503));
    };
    EXPECT_EQ(retrying.send({}, task)->status, 503);
    EXPECT_EQ(asked, 5);
}

TEST_F(HttpRetry, AStopEndsTheWaitForAStore)
{
    RetryingSender retrying = sender();
    const TaskContext::Patience patience(task);
    ASSERT_TRUE(retrying.send({}, task));
    lose(1000);
    clock->onPause = [&, pauses = 0]() mutable {
        if (++pauses == 8)
            task.requestStop();
    };
    EXPECT_EQ(retrying.send({}, task).error().code, Code::Canceled);
    EXPECT_EQ(clock->pauses.size(), 8U);
}

}
} // namespace deltascope::http
