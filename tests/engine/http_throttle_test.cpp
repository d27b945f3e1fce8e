#include "deltascope/engine/http_throttle.h"

#include "support/any_task.h"
#include "support/scripted_server.h"

#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

// Limits of a store's requests and bytes, and what is counted of them.

namespace deltascope::http {
namespace {

using namespace std::chrono_literals;
using test::answerText;
using test::anyTask;
using test::ScriptedServer;

/// Time that passes only in pauses, and when a test says so.
class StandingClock final : public RetryClock {
public:
    std::chrono::steady_clock::time_point now() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_now;
    }
    std::chrono::system_clock::time_point date() const override { return {}; }
    double chance() override { return 0; }
    Result<void> pause(std::chrono::milliseconds time, TaskContext& task) override
    {
        pass(time);
        pauses.push_back(time);
        return task.checkpoint();
    }
    void pass(std::chrono::milliseconds time)
    {
        const std::lock_guard lock(m_mutex);
        m_now += time;
    }

    std::vector<std::chrono::milliseconds> pauses;

private:
    mutable std::mutex m_mutex;
    std::chrono::steady_clock::time_point m_now;
};

class TokenBucketTest : public testing::Test {
protected:
    std::shared_ptr<StandingClock> clock = std::make_shared<StandingClock>();
};

TEST_F(TokenBucketTest, WhatWasTooMuchIsWaitedFor)
{
    TokenBucket bucket(1000, 100, clock);
    EXPECT_EQ(bucket.wait(), 0ms);
    bucket.charge(100);
    EXPECT_EQ(bucket.wait(), 0ms);
    bucket.charge(500);
    EXPECT_EQ(bucket.wait(), 500ms);
    clock->pass(499ms);
    EXPECT_EQ(bucket.wait(), 1ms);
    clock->pass(1ms);
    EXPECT_EQ(bucket.wait(), 0ms);
}

TEST_F(TokenBucketTest, ARestGivesNoMoreThanTheBurst)
{
    TokenBucket bucket(1000, 100, clock);
    clock->pass(1h);
    bucket.charge(200);
    EXPECT_EQ(bucket.wait(), 100ms);
}

TEST_F(TokenBucketTest, OverTimeTheRateIsKept)
{
    TokenBucket bucket(3000, 50, clock);
    std::uint64_t passed = 0;
    const auto begin = clock->now();
    for (std::uint64_t amount = 1; amount < 400; ++amount) {
        clock->pass(bucket.wait());
        bucket.charge(amount);
        passed += amount;
    }
    clock->pass(bucket.wait());
    const double seconds = std::chrono::duration<double>(clock->now() - begin).count();
    EXPECT_NEAR(seconds, static_cast<double>(passed - 50) / 3000, 0.002);
}

class CountingSender final : public Sender {
public:
    Result<Response> send(const Request& request, TaskContext&) override
    {
        requests.push_back(request);
        Response response;
        response.status = 200;
        return response;
    }
    Counters counters() const override { return { requests.size(), 0, 0, 0 }; }

    std::vector<Request> requests;
};

class Throttled : public testing::Test {
protected:
    CountingSender inner;
    std::shared_ptr<StandingClock> clock = std::make_shared<StandingClock>();
};

TEST_F(Throttled, RequestsWaitForTheirTurns)
{
    ThrottledSender sender(inner, { 0, 2 }, clock);
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(sender.send({}, anyTask()));
    EXPECT_EQ(clock->pauses, (std::vector<std::chrono::milliseconds> { 500ms, 500ms, 500ms }));
    EXPECT_EQ(sender.counters().requests, 5U);
    EXPECT_FALSE(inner.requests[0].pace);
}

TEST_F(Throttled, LessThanOneRequestInASecondIsPossible)
{
    ThrottledSender sender(inner, { 0, 0.1 }, clock);
    for (int i = 0; i < 2; ++i)
        EXPECT_TRUE(sender.send({}, anyTask()));
    EXPECT_EQ(clock->pauses, std::vector<std::chrono::milliseconds> { 10s });
}

TEST_F(Throttled, WhoIsStoppedWhileItWaitsSendsNothing)
{
    ThrottledSender sender(inner, { 0, 1 }, clock);
    EXPECT_TRUE(sender.send({}, anyTask()));
    TaskContext stopped;
    stopped.requestStop();
    const auto outcome = sender.send({}, stopped);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Canceled);
    EXPECT_EQ(inner.requests.size(), 1U);
}

TEST_F(Throttled, AllRequestsShareOnePace)
{
    ThrottledSender sender(inner, { 1000, 0 }, clock);
    EXPECT_TRUE(sender.send({}, anyTask()));
    EXPECT_TRUE(sender.send({}, anyTask()));
    ASSERT_TRUE(inner.requests[0].pace);
    EXPECT_EQ(inner.requests[0].pace, inner.requests[1].pace);
    inner.requests[0].pace->charge(1100); // a tenth of a second may pass at once
    EXPECT_EQ(inner.requests[1].pace->wait(), 1s);
    EXPECT_TRUE(clock->pauses.empty());
}

TEST_F(Throttled, WithoutALimitNothingWaits)
{
    ThrottledSender sender(inner, {}, clock);
    for (int i = 0; i < 1000; ++i)
        EXPECT_TRUE(sender.send({}, anyTask()));
    EXPECT_TRUE(clock->pauses.empty());
}

/// Refuses some times after each piece that moves; notes pieces that moved although they were refused.
class StepPace final : public Pace {
public:
    explicit StepPace(int refusals)
        : m_refusals(refusals)
        , m_left(refusals)
    {
    }
    std::chrono::milliseconds wait() const override
    {
        const std::lock_guard lock(m_mutex);
        if (m_left == 0)
            return 0ms;
        --m_left;
        ++m_refused;
        return 2ms;
    }
    void charge(std::uint64_t bytes) override
    {
        const std::lock_guard lock(m_mutex);
        if (m_left > 0)
            ++m_tooEarly;
        m_left = m_refusals;
        m_charged += bytes;
    }
    std::uint64_t charged() const { return m_charged; }
    int refused() const { return m_refused; }
    int tooEarly() const { return m_tooEarly; }

private:
    const int m_refusals;
    mutable std::mutex m_mutex;
    mutable int m_left;
    mutable int m_refused = 0;
    int m_tooEarly = 0;
    std::uint64_t m_charged = 0;
};

std::string longBody(std::size_t bytes)
{
    std::string body(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i)
        body[i] = static_cast<char>('a' + i * i % 23);
    return body;
}

TEST(HttpPace, ABodyArrivesWholePieceByPiece)
{
    const std::string body = longBody(1'000'000);
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, body)); });
    Client client;
    Request request;
    request.url = server.url();
    request.destination = Keep { body.size() };
    const auto pace = std::make_shared<StepPace>(3);
    request.pace = pace;
    const auto response = client.send(request, anyTask());
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, body);
    EXPECT_EQ(pace->charged(), body.size());
    EXPECT_EQ(pace->tooEarly(), 0);
    EXPECT_GE(pace->refused(), 3 * 5); // a piece has at most 128 KiB
}

TEST(HttpPace, ABodyIsSentWholePieceByPiece)
{
    const std::string body = longBody(1'000'000);
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, "")); });
    Client client;
    Request request;
    request.method = "PUT";
    request.url = server.url();
    request.body = bodyOf(body);
    const auto pace = std::make_shared<StepPace>(2);
    request.pace = pace;
    const auto response = client.send(request, anyTask());
    ASSERT_TRUE(response);
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(server.requests()[0].body, body);
    EXPECT_EQ(pace->charged(), body.size());
    EXPECT_EQ(pace->tooEarly(), 0);
    EXPECT_GE(pace->refused(), 2 * 5);
}

TEST(HttpPace, RequestsThatShareAPaceAllArrive)
{
    const std::string body = longBody(400'000);
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, body)); });
    Client client;
    Request request;
    request.url = server.url();
    request.destination = Keep { body.size() };
    const auto pace = std::make_shared<StepPace>(1);
    request.pace = pace;
    std::vector<Exchange> exchanges;
    exchanges.reserve(5);
    for (int i = 0; i < 5; ++i)
        exchanges.push_back(client.start(request));
    for (Exchange& exchange : exchanges) {
        const auto response = exchange.take();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->body, body);
    }
    EXPECT_EQ(pace->charged(), 5 * body.size());
    EXPECT_EQ(pace->tooEarly(), 0);
}

TEST(HttpPace, WaitingForItIsNoStall)
{
    const std::string body = longBody(1000);
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, body)); });
    Client client;
    Request request;
    request.url = server.url();
    request.stallWithin = 40ms;
    request.pace = std::make_shared<StepPace>(100); // 2 ms each
    const auto response = client.send(request, anyTask());
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->body, body);
}

TEST(HttpPace, WhoWaitsForItCanBeStopped)
{
    class Never final : public Pace {
    public:
        std::chrono::milliseconds wait() const override
        {
            asked = true;
            return 1h;
        }
        void charge(std::uint64_t) override { }
        mutable std::atomic<bool> asked = false;
    };
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, "body")); });
    Client client;
    Request request;
    request.url = server.url();
    const auto never = std::make_shared<Never>();
    request.pace = never;
    TaskContext task;
    std::thread stopper([&] {
        while (!never->asked)
            std::this_thread::sleep_for(1ms);
        task.requestStop();
    });
    const auto response = client.send(request, task);
    stopper.join();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Canceled);
}

TEST(HttpMeter, EachStoreCountsItsOwnRequests)
{
    ScriptedServer server([&](const auto&, auto& connection) { connection.send(answerText(200, longBody(5000))); });
    Client client;
    MeteredSender one(client);
    MeteredSender other(client);
    Request request;
    request.url = server.url();
    const auto response = one.send(request, anyTask());
    ASSERT_TRUE(response);
    ASSERT_TRUE(one.send(request, anyTask()));
    request.method = "PUT";
    request.body = bodyOf(longBody(3000));
    ASSERT_TRUE(other.send(request, anyTask()));
    EXPECT_EQ(one.counters().requests, 2U);
    EXPECT_EQ(one.counters().bytesIn, 2 * response->bytesIn);
    EXPECT_EQ(one.counters().bytesOut, 2 * response->bytesOut);
    EXPECT_EQ(other.counters().requests, 1U);
    EXPECT_GE(other.counters().bytesOut, 3000U);
    EXPECT_EQ(client.counters().requests, 3U);
    EXPECT_EQ(client.counters().bytesIn, one.counters().bytesIn + other.counters().bytesIn);
    EXPECT_EQ(client.counters().bytesOut, one.counters().bytesOut + other.counters().bytesOut);
}

TEST(HttpMeter, BytesOfRequestsThatFailCountToo)
{
    ScriptedServer server([&](const auto&, auto& connection) {
        const std::string answer = answerText(200, longBody(5000));
        connection.send(std::string_view(answer).substr(0, answer.size() - 1000));
        connection.close();
    });
    Client client;
    MeteredSender sender(client);
    Request request;
    request.url = server.url();
    const auto response = sender.send(request, anyTask());
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Transient);
    EXPECT_EQ(sender.counters().requests, 1U);
    EXPECT_GE(sender.counters().bytesIn, 4000U);
}

TEST(HttpMeter, TheWholeStackCountsEachAttempt)
{
    std::atomic<int> asked = 0;
    ScriptedServer server(
        [&](const auto&, auto& connection) { connection.send(answerText(asked++ < 2 ? 503 : 200, "body")); });
    const auto clock = std::make_shared<StandingClock>();
    Client client;
    MeteredSender metered(client);
    ThrottledSender throttled(metered, { 1 << 20, 1 }, clock);
    RetryingSender sender(throttled, {}, clock);
    Request request;
    request.url = server.url();
    const auto response = sender.send(request, anyTask());
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(sender.counters().requests, 3U);
    EXPECT_EQ(sender.counters().retries, 2U);
    EXPECT_EQ(sender.counters().bytesIn, client.counters().bytesIn);
    // each attempt waits for its turn, beside the pauses between them
    EXPECT_EQ(clock->pauses, (std::vector<std::chrono::milliseconds> { 0ms, 1s, 0ms, 1s }));
}

} // namespace
} // namespace deltascope::http
