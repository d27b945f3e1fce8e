#include "http_fixture.h"

#include <atomic>
#include <chrono>
#include <memory>

// The HTTP client before servers that break the protocol or are gone, and what its errors say.

namespace deltascope::http {
namespace {

using namespace http_test;
using namespace std::chrono_literals;

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

TEST_F(HttpClient, WhatIsNoHttpIsUnsupported)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
        connection.close();
    });
    const Error error = errorOf(get(server.url()));
    EXPECT_EQ(error.code, Code::Unsupported) << error.text;
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

} // namespace
} // namespace deltascope::http
