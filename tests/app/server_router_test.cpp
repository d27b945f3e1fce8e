#include "server/router.h"

#include "server/answer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// Which requests come through, and who answers them.

namespace deltascope::server {
namespace {

constexpr const char* kToken = "token-0123456789abcdef";
constexpr const char* kCookie = "deltascope_test";

class SilentApi final : public Api {
public:
    void handle(const HttpRequest&, Reply) override { }
    std::string metrics() override { return "m 1\n"; }
    bool ready() override { return isReady; }
    bool isReady = true;
};

class RouterTest : public testing::Test {
protected:
    RouterTest() { m_session = m_auth.signIn(kToken, "c")->id; }

    static RequestHead get(const std::string& target)
    {
        RequestHead head;
        head.method = "GET";
        head.target = target;
        head.host = "localhost:7717";
        head.client = "c";
        return head;
    }
    static RequestHead post(const std::string& target)
    {
        RequestHead head = get(target);
        head.method = "POST";
        head.contentType = "application/json";
        return head;
    }
    RequestHead withCookie(RequestHead head, const std::string& origin = {}) const
    {
        head.cookie = "other=1; " + std::string(kCookie) + "=" + m_session;
        head.origin = origin;
        return head;
    }
    static RequestHead withToken(RequestHead head)
    {
        head.authorization = std::string("Bearer ") + kToken;
        return head;
    }

    /// 0: passed on to who answers it.
    int status(const RequestHead& head)
    {
        const Admission admission = m_router.admit(head);
        const auto* response = std::get_if<HttpResponse>(&admission);
        return response ? response->status : 0;
    }
    HttpResponse answer(const RequestHead& head) { return std::get<HttpResponse>(m_router.admit(head)); }

    std::vector<Asset> m_assets {
        { "/index.html", "i", "<head><base href=\"/\" /></head>", "zip" },
        { "/assets/app-1a.js", "j", "let a = 1; let b = 2;", "zip" },
        { "/icon.svg", "s", "<svg/>", "longer than that" },
        { "/openapi.json", "o", "{}", "longer than that" },
    };
    EventHub m_hub;
    SilentApi m_api;
    Auth m_auth { parseTokens(std::string("t read ") + kToken).value(), false };
    Router m_router { "/ds/", kCookie, Guards({ "Box.Example.org:80" }, {}), Site(m_assets, "/ds/"), m_auth,
                      m_hub,  m_api };
    std::string m_session;
};

TEST_F(RouterTest, AnswersToItsOwnNamesOnly)
{
    for (const char* host : { "localhost", "localhost:1", "127.0.0.1:7717", "[::1]:7717", "box.example.org",
                              "BOX.example.ORG:9", "localhost.:80" }) {
        RequestHead head = get("/ds/healthz");
        head.host = host;
        EXPECT_EQ(status(head), 200) << host;
    }
    for (const char* host : { "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", "[",
                              "localhost@evil", "evil:localhost", "xlocalhost" }) {
        RequestHead head = withToken(get("/ds/api/v1/runs"));
        head.host = host;
        EXPECT_EQ(status(head), 421) << host;
    }
}

TEST_F(RouterTest, DataNeedsSomebody)
{
    EXPECT_EQ(status(get("/ds/api/v1/runs")), 401);
    EXPECT_EQ(status(get("/ds/api/v1/events")), 401);
    EXPECT_EQ(status(get("/ds/metrics")), 401);
    EXPECT_EQ(status(post("/ds/api/v1/runs/a/plans")), 401);
    EXPECT_EQ(status(withToken(get("/ds/api/v1/runs"))), 0);
    EXPECT_EQ(status(withToken(get("/ds/api/v1/events"))), 0);
    EXPECT_EQ(answer(withToken(get("/ds/metrics"))).body, "m 1\n");
    EXPECT_EQ(status(withCookie(get("/ds/api/v1/runs"))), 0);
    for (const char* open : { "/ds/", "/ds/healthz", "/ds/readyz", "/ds/openapi.json", "/ds/assets/app-1a.js" })
        EXPECT_EQ(status(get(open)), 200) << open;
}

TEST_F(RouterTest, OtherSitesChangeNothing)
{
    const std::string acts = "/ds/api/v1/tasks/1/cancel";
    EXPECT_EQ(status(withCookie(post(acts), "http://localhost:7717")), 0);
    EXPECT_EQ(status(withCookie(post(acts), "https://LOCALHOST:7717")), 0) << "TLS ends at a proxy";
    for (const char* origin : { "http://evil.example", "http://localhost:7718", "http://localhost", "null",
                                "localhost:7717", "", "ftp://localhost:7717" })
        EXPECT_EQ(status(withCookie(post(acts), origin)), 403) << origin;
    EXPECT_EQ(status(withToken(post(acts))), 0) << "scripts have no origin";
    RequestHead foreign = withToken(post(acts));
    foreign.origin = "http://evil.example";
    EXPECT_EQ(status(foreign), 403);
    RequestHead proxied = post(acts);
    proxied.proxyUser = "kim";
    EXPECT_EQ(status(proxied), 403) << "a proxy's name is as ambient as a cookie";
}

TEST_F(RouterTest, OtherSitesReadNothing)
{
    for (const char* site : { "cross-site", "same-site" }) {
        RequestHead data = withCookie(get("/ds/api/v1/runs"));
        data.fetchSite = site;
        EXPECT_EQ(status(data), 403) << site;
        RequestHead act = withCookie(post("/ds/api/v1/plans"), "http://localhost:7717");
        act.fetchSite = site;
        EXPECT_EQ(status(act), 403) << site;
        RequestHead link = get("/ds/r/wordle?x=/api/");
        link.fetchSite = site;
        EXPECT_EQ(status(link), 200) << site;
    }
}

TEST_F(RouterTest, SignsInAndOut)
{
    RequestHead head = post("/ds/api/v1/session");
    head.origin = "http://localhost:7717";
    const Admission admission = m_router.admit(head);
    ASSERT_TRUE(std::holds_alternative<SignInCall>(admission));
    const auto call = std::get<SignInCall>(admission);
    EXPECT_EQ(m_router.signIn(call, "{\"code\":1}").status, 400);
    EXPECT_EQ(m_router.signIn(call, "code").status, 400);
    const HttpResponse in = m_router.signIn(call, "{\"code\":\"" + m_auth.code() + "\"}");
    EXPECT_EQ(in.status, 204);
    const std::string cookie(headerOf(in, "Set-Cookie"));
    EXPECT_NE(cookie.find("; Path=/ds/; HttpOnly; SameSite=Strict"), std::string::npos) << cookie;
    EXPECT_EQ(cookie.find("Secure"), std::string::npos);

    RequestHead out = head;
    out.method = "DELETE";
    out.cookie = cookie.substr(0, cookie.find(';'));
    RequestHead data = get("/ds/api/v1/runs");
    data.cookie = out.cookie;
    EXPECT_EQ(status(data), 0);
    EXPECT_EQ(answer(out).status, 204);
    EXPECT_EQ(status(data), 401);
    EXPECT_EQ(m_router.signIn(call, "{\"code\":\"wrong\"}").status, 401);
    const HttpResponse waits = m_router.signIn(call, "{\"code\":\"wrong\"}");
    EXPECT_EQ(waits.status, 429);
    EXPECT_EQ(headerOf(waits, "Retry-After"), "1");
}

TEST_F(RouterTest, CookiesBehindTlsAreSecure)
{
    RequestHead head = post("/ds/api/v1/session");
    head.host = "box.example.org";
    head.origin = "https://box.example.org";
    const auto call = std::get<SignInCall>(m_router.admit(head));
    const HttpResponse in = m_router.signIn(call, "{\"code\":\"" + m_auth.code() + "\"}");
    EXPECT_TRUE(headerOf(in, "Set-Cookie").ends_with("; Secure"));
}

TEST_F(RouterTest, AnswersWrongMethodsAndTypes)
{
    RequestHead head = withToken(get("/ds/api/v1/runs"));
    for (const char* method : { "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE" }) {
        head.method = method;
        EXPECT_EQ(status(head), 405) << method;
    }
    RequestHead page = get("/ds/");
    page.method = "POST";
    EXPECT_EQ(headerOf(answer(page), "Allow"), "GET, HEAD");
    EXPECT_EQ(status(get("/ds/api/v1/session")), 405);
    RequestHead form = withToken(post("/ds/api/v1/plans"));
    form.contentType = "application/x-www-form-urlencoded";
    EXPECT_EQ(status(form), 415);
    form = post("/ds/api/v1/session");
    form.contentType = "text/plain";
    EXPECT_EQ(status(form), 415);
    EXPECT_EQ(status(get("nonsense")), 400);
}

TEST_F(RouterTest, FindsFilesByExactName)
{
    EXPECT_EQ(answer(get("/ds/icon.svg")).body, "<svg/>");
    for (const char* path : { "/ds/assets/", "/ds/assets/app-1b.js", "/ds/assets/../index.html", "/ds/../etc/passwd",
                              "/ds/.git/config", "/index.html", "/", "/dsx/", "/ds/favicon.ico" })
        EXPECT_EQ(status(get(path)), 404) << path;
    EXPECT_EQ(answer(get("/ds/nothing.txt")).contentType, "application/problem+json");
    EXPECT_EQ(headerOf(answer(get("/ds")), "Location"), "/ds/");
}

TEST_F(RouterTest, ThePageIsThereUnderAllItsPaths)
{
    for (const char* path : { "/ds/", "/ds/index.html", "/ds/r/grpo-7b.v2/steps/1.5", "/ds/tasks", "/ds/about" })
        EXPECT_EQ(answer(get(path)).body, "<head><base href=\"/ds/\" /></head>") << path;
    EXPECT_EQ(headerOf(answer(get("/ds/r/x")), "Cache-Control"), "no-cache");
}

TEST_F(RouterTest, SendsFilesCompressedAndForGood)
{
    RequestHead head = get("/ds/assets/app-1a.js");
    EXPECT_EQ(answer(head).body, "let a = 1; let b = 2;");
    head.acceptEncoding = "gzip, br";
    const HttpResponse zipped = answer(head);
    EXPECT_EQ(zipped.body, "zip");
    EXPECT_EQ(headerOf(zipped, "Content-Encoding"), "gzip");
    EXPECT_EQ(headerOf(zipped, "Cache-Control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(zipped.contentType, "text/javascript; charset=utf-8");
    head.target = "/ds/icon.svg";
    EXPECT_EQ(answer(head).body, "<svg/>") << "it would grow";
}

TEST_F(RouterTest, EventStreamsStartWhereTheClientWas)
{
    const auto start = [this](const std::string& query, const std::string& lastId = {}) {
        RequestHead head = withToken(get("/ds/api/v1/events" + query));
        head.lastEventId = lastId;
        return std::get<EventsCall>(m_router.admit(head));
    };
    m_hub.publish("step", "r", "{}");
    const std::string first = m_hub.idAt(m_hub.end());
    m_hub.publish("step", "r", "{}");
    EXPECT_EQ(start("").position, m_hub.end());
    EXPECT_EQ(start("?since=" + first).position, m_hub.end() - 1);
    EXPECT_EQ(start("?since=other-1", first).position, m_hub.end() - 1);
    EXPECT_EQ(start("?since=other-1").position, EventHub::kLost);
    const EventsCall call = start("?topics=step,,task&run=a%20b");
    EXPECT_EQ(call.filter.topics, (std::set<std::string, std::less<>> { "step", "task" }));
    EXPECT_EQ(call.filter.run, "a b");
}

TEST_F(RouterTest, SaysWhetherItIsReady)
{
    m_api.isReady = false;
    EXPECT_EQ(status(get("/ds/readyz")), 503);
    EXPECT_EQ(status(get("/ds/healthz")), 200);
}

TEST_F(RouterTest, ProblemsAreJsonWithACodeAndAHint)
{
    const HttpResponse refused = answer(get("/ds/api/v1/runs"));
    EXPECT_EQ(refused.contentType, "application/problem+json");
    const auto body = nlohmann::json::parse(refused.body);
    EXPECT_EQ(body["status"], 401);
    EXPECT_EQ(body["code"], "DS-AUTH");
    for (const char* key : { "type", "title", "detail", "hint" })
        EXPECT_FALSE(body[key].get<std::string>().empty()) << key;
}

TEST(Guards, LetsNamedPortalsEmbed)
{
    const Guards none({}, {});
    EXPECT_NE(none.headers().front().second.find("frame-ancestors 'none'"), std::string::npos);
    const Guards some({}, { "https://portal.example.org" });
    EXPECT_NE(some.headers().front().second.find("frame-ancestors https://portal.example.org"), std::string::npos);
    EXPECT_TRUE(isOrigin("https://portal.example.org:8443"));
    for (const char* text : { "", "https://", "portal", "https://a.b/", "https://a; script-src *", "javascript:x" })
        EXPECT_FALSE(isOrigin(text)) << text;
}

}
}
