#include "deltascope/engine/http.h"

#include "deltascope/engine/http_url.h"

#include "support/eventually.h"
#include "support/scripted_server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fmt/format.h>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

// The HTTP client before servers on the loopback that keep the protocol, and that break it.

namespace deltascope::http {
namespace {

using namespace std::chrono_literals;
using test::answerText;
using test::ScriptedServer;
using Connection = ScriptedServer::Connection;
using Seen = ScriptedServer::Request;

constexpr auto LongTime = 30s; ///< on a busy machine; what was not stopped takes longer

Request get(const std::string& url)
{
    Request request;
    request.url = url;
    return request;
}

Request post(const std::string& url, std::string body)
{
    Request request = get(url);
    request.method = "POST";
    request.body = bodyOf(std::move(body));
    return request;
}

ScriptedServer::Script always(std::string answer)
{
    return [answer = std::move(answer)](const Seen&, Connection& connection) { connection.send(answer); };
}

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

class HttpClient : public testing::Test {
protected:
    Result<Response> send(const Request& request) { return client.send(request, task); }
    /// The error of a request that must fail.
    Error errorOf(const Request& request)
    {
        const Result<Response> response = send(request);
        EXPECT_FALSE(response) << "status " << (response ? response->status : 0);
        return response ? Error {} : response.error();
    }

    Client client;
    TaskContext task;
};

TEST_F(HttpClient, GetsStatusHeadersAndBody)
{
    ScriptedServer server(always(answerText(203, "hello", "X-Thing:  two words \r\nx-thing: second\r\n")));
    Request request = get(server.url("/a%20b/../c?q=1"));
    request.headers.add("X-Asked", "yes");
    request.headers.add("X-Empty", "");
    const auto response = send(request);
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->status, 203);
    EXPECT_TRUE(response->isGood());
    EXPECT_EQ(response->body, "hello");
    EXPECT_EQ(response->takenBytes, 5U);
    EXPECT_EQ(response->headers.find("X-THING"), "two words");
    EXPECT_FALSE(response->headers.find("X-Other"));
    const Seen seen = server.requests().at(0);
    EXPECT_EQ(seen.target(), "/a%20b/../c?q=1") << "keys of objects are not to be tidied";
    EXPECT_EQ(seen.header("X-Asked"), "yes");
    EXPECT_NE(seen.head.find("X-Empty:\r\n"), std::string::npos);
    EXPECT_EQ(seen.header("Accept-Encoding"), "identity");
}

TEST_F(HttpClient, SendsBodiesWithAnyMethod)
{
    ScriptedServer server(always(answerText(200, "")));
    const std::string large(3'000'000, 'x');
    ASSERT_TRUE(send(post(server.url("/post"), large)));
    Request put = post(server.url("/put"), "");
    put.method = "PUT";
    ASSERT_TRUE(send(put));
    Request remove = get(server.url("/delete"));
    remove.method = "DELETE";
    ASSERT_TRUE(send(remove));
    const auto seen = server.requests();
    EXPECT_EQ(seen.at(0).method(), "POST");
    EXPECT_EQ(seen.at(0).body, large);
    EXPECT_EQ(seen.at(0).header("Expect"), "");
    EXPECT_EQ(seen.at(0).header("Content-Type"), "");
    EXPECT_EQ(seen.at(1).method(), "PUT");
    EXPECT_EQ(seen.at(1).header("Content-Length"), "0");
    EXPECT_EQ(seen.at(2).method(), "DELETE");
}

TEST_F(HttpClient, HeadHasNoBodyWhateverItsLengthSays)
{
    ScriptedServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"));
    Request request = get(server.url());
    request.method = "HEAD";
    for (int i = 0; i < 2; ++i) {
        const auto response = send(request);
        ASSERT_TRUE(response) << response.error().text;
        EXPECT_EQ(response->headers.find("content-length"), "1000000000000");
    }
    EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, UsesConnectionsAgain)
{
    ScriptedServer server(always(answerText(200, "ok")));
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(send(get(server.url())));
    EXPECT_EQ(server.connections(), 1U);
    EXPECT_EQ(server.requests().size(), 20U);
}

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

TEST_F(HttpClient, FillsMemoryOfTheCallerWithTheRangeAskedFor)
{
    ScriptedServer server(
        always("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-14/999\r\nContent-Length: 5\r\n\r\nabcde"));
    std::string room(5, '.');
    Request request = get(server.url());
    request.range = ByteRange { 10, 5 };
    request.destination = std::as_writable_bytes(std::span(room));
    const auto response = send(request);
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->status, 206);
    EXPECT_EQ(response->takenBytes, 5U);
    EXPECT_EQ(room, "abcde");
    ASSERT_TRUE(response->contentRange);
    EXPECT_EQ(response->contentRange->range, (ByteRange { 10, 5 }));
    EXPECT_EQ(response->contentRange->totalBytes, 999U);
    EXPECT_EQ(server.requests().at(0).header("Range"), "bytes=10-14");
}

TEST_F(HttpClient, TakesNothingButTheRangeAskedFor)
{
    for (const char* answer :
         { "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nabcde",
           "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nabcde",
           "HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/999\r\nContent-Length: 5\r\n\r\nabcde",
           "HTTP/1.1 206 P\r\nContent-Range: bytes 10-99/999\r\nContent-Length: 90\r\n\r\nabcde",
           "HTTP/1.1 206 P\r\nContent-Range: bytes 14-10/999\r\nContent-Length: 5\r\n\r\nabcde" }) {
        ScriptedServer server([&](const Seen&, Connection& connection) {
            connection.send(answer);
            connection.hold(); // more would come
        });
        std::string room(5, '.');
        Request request = get(server.url());
        request.range = ByteRange { 10, 5 };
        request.destination = std::as_writable_bytes(std::span(room));
        const auto response = send(request);
        ASSERT_TRUE(response) << answer << response.error().text;
        EXPECT_FALSE(response->isWhole);
        EXPECT_EQ(response->takenBytes, 0U);
        EXPECT_EQ(room, ".....");
    }
}

TEST_F(HttpClient, ARangeThatDoesNotHoldWhatItSaysIsTransient)
{
    ScriptedServer server(
        always("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-14/999\r\nContent-Length: 4\r\n\r\nabcd"));
    std::string room(5, '.');
    Request request = get(server.url());
    request.range = ByteRange { 10, 5 };
    request.destination = std::as_writable_bytes(std::span(room));
    EXPECT_EQ(errorOf(request).code, Code::Transient);
}

TEST_F(HttpClient, ABodyThatEndsEarlyIsTransient)
{
    for (const char* answer : { "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Le",
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "" }) {
        ScriptedServer server([&](const Seen&, Connection& connection) {
            connection.send(answer);
            connection.close();
        });
        const Error error = errorOf(get(server.url()));
        EXPECT_EQ(error.code, Code::Transient) << answer << error.text;
        EXPECT_NE(error.text.find(server.host()), std::string::npos) << error.text;
    }
}

TEST_F(HttpClient, WhatFollowsABodyIsNoAnswerToTheNextRequest)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        connection.send(answerText(200, seen.target()) + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    });
    for (const char* path : { "/first", "/second" }) {
        const auto response = send(get(server.url(path)));
        ASSERT_TRUE(response) << response.error().text;
        EXPECT_EQ(response->body, path);
    }
    EXPECT_EQ(server.connections(), 2U);
}

TEST_F(HttpClient, ALostReplyIsTransientAndAPostIsNotSentAgain)
{
    // On a kept connection libcurl would send it once more by itself.
    for (const char* body : { "", "carry this out once" }) {
        ScriptedServer server([](const Seen& seen, Connection& connection) {
            if (seen.method() == "GET")
                connection.send(answerText(200, "ok"));
            else
                connection.reset();
        });
        ASSERT_TRUE(send(get(server.url())));
        const Error error = errorOf(post(server.url("/act"), body));
        EXPECT_EQ(error.code, Code::Transient);
        EXPECT_NE(error.text.find("may have been carried out"), std::string::npos) << error.text;
        EXPECT_EQ(server.requests().size(), 2U) << "with " << body;
    }
}

TEST_F(HttpClient, AConnectionThatDiedMeanwhileIsReplaced)
{
    std::atomic<int> answers = 0;
    ScriptedServer server([&](const Seen&, Connection& connection) {
        if (++answers == 2) // a proxy that drops what was idle
            return connection.reset();
        connection.send(answerText(200, "ok"));
    });
    ASSERT_TRUE(send(get(server.url())));
    const auto response = send(get(server.url()));
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(server.connections(), 2U);
}

TEST_F(HttpClient, NobodyThereIsTransient)
{
    std::string url;
    {
        const ScriptedServer gone(always(""));
        url = gone.url("/x?signature=hidden");
    }
    const Error error = errorOf(get(url));
    EXPECT_EQ(error.code, Code::Transient);
    EXPECT_NE(error.text.find("Connection refused"), std::string::npos) << error.text;
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

TEST_F(HttpClient, HeadersAndBodiesWithoutEndAreHostile)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        connection.send("HTTP/1.1 200 OK\r\n");
        if (seen.target() == "/body")
            connection.send("\r\n");
        if (seen.target() == "/lines")
            while (connection.send("X-More: of the same\r\n")) { }
        while (connection.send(std::string(10'000, 'x'))) { }
    });
    Request request = get(server.url("/body"));
    request.destination = Keep { 100'000 };
    for (const char* path : { "/body", "/lines", "/line" }) {
        request.url = server.url(path);
        const Error error = errorOf(request);
        EXPECT_EQ(error.code, Code::Hostile) << path << error.text;
        EXPECT_NE(error.text.find(server.host()), std::string::npos) << error.text;
    }
}

TEST_F(HttpClient, ABodyLongerThanItsRoomIsHostile)
{
    ScriptedServer server(always(answerText(200, "abcdef")));
    std::string room(5, '.');
    Request request = get(server.url());
    request.destination = std::as_writable_bytes(std::span(room));
    EXPECT_EQ(errorOf(request).code, Code::Hostile);
    EXPECT_EQ(room, ".....");
}

TEST_F(HttpClient, OfALongErrorOnlyTheBeginIsKept)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 500 Sorry\r\n\r\n");
        while (connection.send(std::string(10'000, 'x'))) { }
    });
    std::string room(5, '.');
    Request request = get(server.url());
    request.destination = std::as_writable_bytes(std::span(room));
    const auto response = send(request);
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(response->body, std::string(65'536, 'x'));
    EXPECT_FALSE(response->isWhole);
    EXPECT_EQ(room, ".....");
}

TEST_F(HttpClient, FollowsRedirectsOnlyWhereTheRequestSaysSo)
{
    ScriptedServer target(always(answerText(200, "there")));
    ScriptedServer server(always(answerText(302, "elsewhere", "Location: " + target.url("/there") + "\r\n")));
    Request request = get(server.url());
    request.headers = { { "Authorization", "Bearer hidden" }, { "Cookie", "a=hidden" } };
    request.range = ByteRange { 0, 5 };
    const auto stays = send(request);
    ASSERT_TRUE(stays);
    EXPECT_EQ(stays->status, 302);
    EXPECT_EQ(stays->body, "elsewhere");
    EXPECT_TRUE(target.requests().empty());
    request.followRedirects = true;
    const auto goes = send(request);
    ASSERT_TRUE(goes);
    EXPECT_EQ(goes->status, 200);
    EXPECT_FALSE(goes->headers.find("Location"));
    const Seen seen = target.requests().at(0);
    EXPECT_EQ(seen.header("Authorization"), "");
    EXPECT_EQ(seen.header("Cookie"), "");
    EXPECT_EQ(seen.header("Range"), "bytes=0-4");
}

TEST_F(HttpClient, OnTheSameHostARedirectKeepsAuthorization)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        connection.send(seen.target() == "/" ? answerText(307, "", "Location: /there\r\n") : answerText(200, "there"));
    });
    Request request = get(server.url());
    request.headers = { { "Authorization", "Bearer hidden" } };
    request.followRedirects = true;
    const auto response = send(request);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, "there");
    EXPECT_EQ(server.requests().at(1).header("Authorization"), "Bearer hidden");
    request.method = "POST";
    EXPECT_EQ(send(request)->status, 307) << "only what asks is followed";
}

TEST_F(HttpClient, RedirectsInCirclesAndToOtherSchemesAreRefused)
{
    for (const char* place : { "/again", "file:///etc/passwd", "ftp://127.0.0.1/", "http://" }) {
        ScriptedServer server(always(answerText(302, "", fmt::format("Location: {}\r\n", place))));
        Request request = get(server.url());
        request.followRedirects = true;
        const Error error = errorOf(request);
        EXPECT_EQ(error.code, Code::Unsupported) << place << ": " << error.text;
        EXPECT_LE(server.requests().size(), 6U);
    }
}

TEST_F(HttpClient, WhatIsNoHttpIsUnsupported)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
        connection.close();
    });
    const Error error = errorOf(get(server.url()));
    EXPECT_EQ(error.code, Code::Unsupported) << error.text;
}

TEST_F(HttpClient, WrongRequestsAreNotSent)
{
    ScriptedServer server(always(answerText(200, "")));
    for (const char* url : { "", "no url", "file:///etc/passwd", "ftp://127.0.0.1/", "http://a:99999/" })
        EXPECT_EQ(errorOf(get(url)).code, Code::Usage) << url;
    for (const Header& header : { Header { "X-A", "1\r\nX-B: 2" }, Header { "X A", "1" }, Header { "", "1" },
                                  Header { "X-A:", "1" }, Header { "X-A", std::string("1\0", 2) } }) {
        Request request = get(server.url());
        request.headers = { header };
        EXPECT_EQ(errorOf(request).code, Code::Usage) << header.name;
    }
    Request request = get(server.url());
    request.method = "GET / HTTP/1.1\r\nX-A: 1\r\n\r\nGET";
    EXPECT_EQ(errorOf(request).code, Code::Usage);
    EXPECT_EQ(server.connections(), 0U);
}

TEST_F(HttpClient, TextsHoldNoSecret)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        if (seen.target().starts_with("/reset"))
            return connection.reset();
        if (seen.target().starts_with("/around"))
            return static_cast<void>(connection.send(answerText(302, "", "Location: /around?token=hidden\r\n")));
        if (seen.target().starts_with("/other"))
            return static_cast<void>(
                connection.send(answerText(302, "", "Location: ftp://name:hidden@127.0.0.1/?token=hidden\r\n")));
        connection.hold();
    });
    for (const char* path : { "/reset", "/around", "/other", "/silence" }) {
        Request request = get("http://name:hidden@" + server.host() + path + "?signature=hidden#hidden");
        request.headers = { { "Authorization", "Bearer hidden" } };
        request.followRedirects = true;
        request.stallWithin = 200ms;
        const Error error = errorOf(request);
        const std::string all = error.text + error.where + error.action;
        EXPECT_EQ(all.find("hidden"), std::string::npos) << all;
        EXPECT_EQ(error.where, server.url(path));
    }
    const Error error = errorOfStatus(403, "https://name:hidden@host.example:443/key?signature=hidden");
    EXPECT_EQ(error.where, "https://host.example/key");
    EXPECT_EQ(error.text, "host.example answers with status 403");
}

TEST_F(HttpClient, CountsWhatGoesOverTheWire)
{
    const std::string answer = answerText(200, std::string(100'000, 'x'));
    ScriptedServer server(always(answer));
    const auto response = send(post(server.url(), std::string(50'000, 'y')));
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->bytesIn, answer.size());
    EXPECT_EQ(response->bytesOut, server.bytesIn());
    ASSERT_TRUE(send(get(server.url())));
    const Counters counters = client.counters();
    EXPECT_EQ(counters.requests, 2U);
    EXPECT_EQ(counters.retries, 0U);
    EXPECT_EQ(counters.bytesIn, 2 * answer.size());
    EXPECT_EQ(counters.bytesOut, server.bytesIn());
}

/// Keeps what comes, and what it was told.
class KeepingSink final : public Sink {
public:
    void begin(const Response& head) override { told += fmt::format("begin {} ", head.status); }
    Result<void> take(ByteSpan bytes) override
    {
        told += asText(bytes);
        if (told.ends_with("stop"))
            return fail(Code::NoSpace, "no room");
        return {};
    }
    void end() override { told += " end"; }

    std::string told; ///< read once the exchange is over
};

TEST_F(HttpClient, ASinkTakesTheBodyAsItComes)
{
    ScriptedServer server(
        always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"));
    KeepingSink sink;
    Request request = get(server.url());
    request.destination = &sink;
    const auto response = send(request);
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(sink.told, "begin 200 abcdef end");
    EXPECT_EQ(response->takenBytes, 6U);
}

TEST_F(HttpClient, TheErrorOfASinkEndsTheExchangeAndErrorsNeverReachIt)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        connection.send(seen.target() == "/bad" ? answerText(404, "not here") : "HTTP/1.1 200 OK\r\n\r\nabc stop");
        connection.hold();
    });
    KeepingSink sink;
    Request request = get(server.url());
    request.destination = &sink;
    EXPECT_EQ(errorOf(request).code, Code::NoSpace);
    EXPECT_EQ(sink.told, "begin 200 abc stop end");
    sink.told.clear();
    request.url = server.url("/bad");
    const auto response = send(request);
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->body, "not here");
    EXPECT_EQ(sink.told, " end");
}

/// A body that cannot be read to its end.
class BrokenBody final : public Body {
public:
    std::uint64_t sizeBytes() const noexcept override { return 100; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        if (offset > 0)
            return fail(Code::Io, "the disk is broken", "file");
        out[0] = {};
        return 1;
    }
};

TEST_F(HttpClient, ABodyThatCannotBeReadEndsTheRequestWithItsError)
{
    ScriptedServer server(always(answerText(200, "")));
    Request request = get(server.url());
    request.method = "PUT";
    request.body = std::make_shared<BrokenBody>();
    const Error error = errorOf(request);
    EXPECT_EQ(error.code, Code::Io);
    EXPECT_EQ(error.text, "the disk is broken");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(HttpClient, ExpandsOnlyWhatMayBeCompressed)
{
    // "hello" as gzip
    const std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);
    ScriptedServer server(always(answerText(200, packed, "Content-Encoding: gzip\r\n")));
    EXPECT_EQ(send(get(server.url()))->body, packed);
    Request request = get(server.url());
    request.mayBeCompressed = true;
    EXPECT_EQ(send(request)->body, "hello");
    request.destination = Keep { 4 };
    EXPECT_EQ(errorOf(request).code, Code::Hostile);
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

TEST(HttpStatus, TellsWhatCanBeDone)
{
    const auto codeOf = [](int status) { return errorOfStatus(status, "http://host/").code; };
    for (const int status : { 401, 403 })
        EXPECT_EQ(codeOf(status), Code::Auth) << status;
    for (const int status : { 404, 410 })
        EXPECT_EQ(codeOf(status), Code::NotFound) << status;
    for (const int status : { 408, 429, 500, 502, 503, 504 })
        EXPECT_EQ(codeOf(status), Code::Transient) << status;
    for (const int status : { 301, 307, 501, 505 })
        EXPECT_EQ(codeOf(status), Code::Unsupported) << status;
    for (const int status : { 400, 409, 412, 416, 422, 507 })
        EXPECT_EQ(codeOf(status), Code::Io) << status;
}

TEST(HttpUrl, HasParts)
{
    const Url url = Url::parse("HTTPS://name:word@host.example:8443/a/b?c=d#e%20f").value();
    EXPECT_EQ(url.scheme, "https");
    EXPECT_EQ(url.userInfo, "name:word");
    EXPECT_EQ(url.host, "host.example");
    EXPECT_EQ(url.port, "8443");
    EXPECT_EQ(url.path, "/a/b");
    EXPECT_EQ(url.query, "c=d");
    EXPECT_EQ(url.fragment, "e f");
    EXPECT_EQ(url.publicText(), "https://host.example:8443/a/b");
    EXPECT_EQ(Url::parse("http://[::1]:80")->authority(), "[::1]");
    EXPECT_EQ(Url::parse("http://[::1]:80")->path, "/");
    EXPECT_FALSE(Url::parse("http://"));
    EXPECT_FALSE(Url::parse("http://a b/"));
}

}
} // namespace deltascope::http
