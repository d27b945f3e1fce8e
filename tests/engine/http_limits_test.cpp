#include "http_fixture.h"
#include "support/eventually.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

// How many requests the HTTP client sends at once, how long it waits for them, and how they are stopped.

namespace deltascope::http {
namespace {

using namespace http_test;
using namespace std::chrono_literals;

constexpr auto LongTime = 30s; ///< on a busy machine; what was not stopped takes longer

/// Lets threads through once it is open.
class Gate {
public:
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_isOpen = true;
        m_changed.notify_all();
    }
    void pass()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_isOpen; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_isOpen = false;
};

TEST_F(HttpClient, ManyThreadsAskAtOnce)
{
    ScriptedServer server(
        [](const Seen& seen, Connection& connection) { connection.send(answerText(200, seen.target())); });
    std::vector<std::future<int>> threads;
    for (int i = 0; i < 8; ++i) {
        threads.push_back(std::async(std::launch::async, [&, i] {
            int right = 0;
            for (int k = 0; k < 25; ++k) {
                const std::string path = fmt::format("/{}/{}", i, k);
                const auto response = client.send(get(server.url(path)), task);
                right += response && response->body == path ? 1 : 0;
            }
            return right;
        }));
    }
    for (auto& thread : threads)
        EXPECT_EQ(thread.get(), 25);
    EXPECT_LE(server.connections(), 16U);
    EXPECT_EQ(client.counters().requests, 200U);
}

TEST(HttpClientLimits, RunsOnlySoManyRequestsToOneHost)
{
    Gate gate;
    std::atomic<int> atOnce = 0;
    std::atomic<int> most = 0;
    const ScriptedServer::Script script = [&](const Seen&, Connection& connection) {
        most = std::max<int>(most, ++atOnce);
        gate.pass();
        --atOnce;
        connection.send(answerText(200, ""));
    };
    ScriptedServer server(script);
    ScriptedServer other(always(answerText(200, "")));
    Client client({ 3, {} });
    std::vector<Exchange> exchanges;
    for (int i = 0; i < 12; ++i)
        exchanges.push_back(client.start(get(server.url(fmt::format("/{:02}", i)))));
    ASSERT_TRUE(test::eventually([&] { return atOnce == 3; }));
    TaskContext task;
    EXPECT_TRUE(client.send(get(other.url()), task)) << "another host has its own room";
    EXPECT_EQ(server.requests().size(), 3U);
    gate.open();
    for (Exchange& exchange : exchanges)
        EXPECT_TRUE(exchange.take());
    EXPECT_LE(most, 3);
    EXPECT_LE(server.connections(), 3U);
}

TEST(HttpClientLimits, OthersWaitInTheirOrder)
{
    ScriptedServer server(always(answerText(200, "")));
    Client client({ 1, {} });
    std::vector<Exchange> exchanges;
    for (int i = 0; i < 12; ++i)
        exchanges.push_back(client.start(get(server.url(fmt::format("/{}", i)))));
    for (Exchange& exchange : exchanges)
        EXPECT_TRUE(exchange.take());
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(server.requests().at(i).target(), fmt::format("/{}", i));
    EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, EndsAtTheDeadlineWhereverItIs)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        if (seen.target() == "/body")
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        connection.hold();
    });
    for (const char* path : { "/body", "/silence" }) {
        Request request = get(server.url(path));
        request.finishWithin = 100ms;
        const auto begin = std::chrono::steady_clock::now();
        const Error error = errorOf(request);
        EXPECT_EQ(error.code, Code::Transient);
        EXPECT_NE(error.text.find("within 0.1 s"), std::string::npos) << error.text;
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
    }
}

TEST(HttpClientLimits, TheDeadlineCountsTheTimeInTheQueue)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.hold(); });
    Client client({ 1, {} });
    const Exchange first = client.start(get(server.url("/first")));
    Request request = get(server.url("/second"));
    request.finishWithin = 50ms;
    TaskContext task;
    const auto response = client.send(request, task);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Transient);
    EXPECT_LE(server.requests().size(), 1U);
}

TEST_F(HttpClient, EndsWhatStandsStill)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        connection.hold();
    });
    Request request = get(server.url());
    request.stallWithin = 100ms;
    const Error error = errorOf(request);
    EXPECT_EQ(error.code, Code::Transient);
    EXPECT_NE(error.text.find("stands still"), std::string::npos) << error.text;
}

TEST_F(HttpClient, EndsWhatIsTooSlow)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 200 OK\r\n\r\n");
        while (connection.send("x"))
            std::this_thread::sleep_for(5ms);
    });
    Request request = get(server.url());
    request.stallWithin = 200ms;
    request.stallBytes = 1'000'000;
    EXPECT_EQ(errorOf(request).code, Code::Transient);
}

TEST_F(HttpClient, AStopEndsItSoon)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.hold(); });
    std::thread stopper([&] {
        test::eventually([&] { return !server.requests().empty(); });
        task.requestStop();
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(errorOf(get(server.url())).code, Code::Canceled);
    EXPECT_EQ(errorOf(get(server.url())).code, Code::Canceled);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, LongTime);
    stopper.join();
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClient, AnExchangeCanBeCanceledAndForgotten)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.hold(); });
    Exchange exchange = client.start(get(server.url()));
    EXPECT_FALSE(exchange.wait(10ms));
    exchange.cancel();
    const auto response = exchange.take();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Canceled);
    client.start(get(server.url()));
}

TEST(HttpClientLimits, WhatIsUnderWayEndsWithTheClient)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.hold(); });
    auto client = std::make_unique<Client>(ClientOptions { 1, {} });
    Exchange active = client->start(get(server.url()));
    Exchange waiting = client->start(get(server.url()));
    client.reset();
    for (Exchange* exchange : { &active, &waiting }) {
        const auto response = exchange->take();
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, Code::Canceled);
    }
}

TEST(HttpClientLimits, CertificatesThatCannotBeReadAreNamed)
{
    ScriptedServer server([](const Seen&, Connection&) {});
    Client client({ 1, "/nowhere/authorities.pem" });
    TaskContext task;
    const auto response = client.send(get("https://" + server.host() + "/?token=hidden"), task);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Io) << response.error().text;
    EXPECT_NE(response.error().text.find("/nowhere/authorities.pem"), std::string::npos) << response.error().text;
}

} // namespace
} // namespace deltascope::http
