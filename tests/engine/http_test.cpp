#include "deltascope/engine/http_url.h"

#include "http_fixture.h"

#include <fmt/format.h>

// The HTTP client before servers on the loopback that keep the protocol.

namespace deltascope::http {
namespace {

using namespace http_test;

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

TEST_F(HttpClient, ReadsNoBodyWhereOnlyTheHeadIsWanted)
{
    ScriptedServer server([](const Seen& seen, Connection& connection) {
        const std::string status = seen.target() == "/bad" ? "404 Not Found" : "200 OK";
        connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 " + status
                        + "\r\nX-Mark: yes\r\nContent-Length: 900000\r\n\r\nab");
        connection.hold(); // the rest never comes
    });
    KeepingSink sink;
    for (const auto& [path, status] : { std::pair("/", 200), std::pair("/bad", 404) }) {
        Request request = post(server.url(path), "hello");
        request.headAlone = true;
        request.destination = &sink;
        const auto response = send(request);
        ASSERT_TRUE(response) << response.error().text;
        EXPECT_EQ(response->status, status);
        EXPECT_EQ(response->headers.find("X-Mark"), "yes");
        EXPECT_EQ(response->body, "");
        EXPECT_FALSE(response->isWhole);
    }
    EXPECT_EQ(sink.told, " end end");
    EXPECT_EQ(server.requests().size(), 2U);
    EXPECT_EQ(server.connections(), 2U) << "one with a body on its way is used for nothing else";
}

TEST_F(HttpClient, HalfAHeadIsNoAnswerWhereOnlyTheHeadIsWanted)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n");
        connection.close();
    });
    Request request = post(server.url(), "hello");
    request.headAlone = true;
    EXPECT_EQ(errorOf(request).code, Code::Transient);
    EXPECT_EQ(server.requests().size(), 1U);
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

} // namespace
} // namespace deltascope::http
