#include "deltascope/engine/http.h"

#include "http/environment.h"
#include "support/scripted_server.h"
#include "support/temp_dir.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <optional>

// Whom the HTTP client trusts, and through whom it goes.

namespace deltascope::http {
namespace {

using test::answerText;
using test::ScriptedServer;
using Connection = ScriptedServer::Connection;
using Seen = ScriptedServer::Request;

/// The environment of a test; as it was before at the end.
class HttpEnvironment : public testing::Test {
protected:
    HttpEnvironment()
    {
        for (const char* name : { "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "no_proxy", "NO_PROXY",
                                  "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" }) {
            const char* const value = std::getenv(name);
            m_before[name] = value ? std::optional<std::string>(value) : std::nullopt;
            ::unsetenv(name);
        }
    }
    ~HttpEnvironment() override
    {
        for (const auto& [name, value] : m_before)
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }

    static Result<Response> get(const std::string& url, const ClientOptions& options = {}, bool followRedirects = false)
    {
        Client client(options);
        Request request;
        request.url = url;
        request.followRedirects = followRedirects;
        TaskContext task;
        return client.send(request, task);
    }

private:
    std::map<std::string, std::optional<std::string>> m_before;
};

TEST_F(HttpEnvironment, NamesCertificatesInTheOrderOfCurl)
{
    EXPECT_EQ(readEnvironment().caFile, "");
    ::setenv("SSL_CERT_FILE", "/file", 1);
    ::setenv("SSL_CERT_DIR", "/folder", 1);
    EXPECT_EQ(readEnvironment().caFile, "/file");
    EXPECT_EQ(readEnvironment().caFolder, "/folder");
    ::setenv("CURL_CA_BUNDLE", "/bundle", 1);
    EXPECT_EQ(readEnvironment().caFile, "/bundle");
    EXPECT_EQ(readEnvironment().caFolder, "");
}

TEST_F(HttpEnvironment, NeverSendsWhatIsForThisMachineThroughAProxy)
{
    EXPECT_EQ(readEnvironment().noProxy, "localhost,127.0.0.1,::1");
    ::setenv("NO_PROXY", "b.example", 1);
    EXPECT_EQ(readEnvironment().noProxy, "b.example,localhost,127.0.0.1,::1");
    ::setenv("no_proxy", "*", 1);
    EXPECT_EQ(readEnvironment().noProxy, "*");
}

TEST_F(HttpEnvironment, GoesThroughTheProxyButToThisMachine)
{
    ScriptedServer proxy([](const Seen&, Connection& connection) { connection.send(answerText(200, "proxy")); });
    ScriptedServer server([](const Seen&, Connection& connection) { connection.send(answerText(200, "server")); });
    ::setenv("http_proxy", proxy.url().c_str(), 1);
    EXPECT_EQ(get("http://bucket.invalid/key")->body, "proxy");
    EXPECT_EQ(proxy.requests().at(0).target(), "http://bucket.invalid/key");
    EXPECT_EQ(get(server.url())->body, "server");
}

TEST_F(HttpEnvironment, TrustsNoCertificateThatNobodyNamed)
{
    const test::TlsIdentity identity;
    ScriptedServer server([](const Seen&, Connection& connection) { connection.send(answerText(200, "safe")); },
                          &identity);
    const auto refused = get(server.url("/?token=hidden"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Io);
    EXPECT_NE(refused.error().text.find(server.host()), std::string::npos) << refused.error().text;
    EXPECT_EQ(refused.error().text.find("hidden"), std::string::npos) << refused.error().text;
    EXPECT_TRUE(server.requests().empty());

    const test::TempDir folder;
    const std::string file = folder.write("authority.pem", identity.certificate());
    EXPECT_EQ(get(server.url(), { 1, file })->body, "safe");
    ::setenv("SSL_CERT_FILE", file.c_str(), 1);
    EXPECT_EQ(get(server.url())->body, "safe");
}

TEST_F(HttpEnvironment, ARedirectNeverLeadsOutOfTls)
{
    const test::TlsIdentity identity;
    const test::TempDir folder;
    const std::string file = folder.write("authority.pem", identity.certificate());
    ScriptedServer plain([](const Seen&, Connection& connection) { connection.send(answerText(200, "read by all")); });
    ScriptedServer server(
        [&](const Seen&, Connection& connection) {
            connection.send(answerText(302, "", "Location: " + plain.url() + "\r\n"));
        },
        &identity);
    const auto response = get(server.url(), { 1, file }, true);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Code::Unsupported) << response.error().text;
    EXPECT_EQ(plain.connections(), 0U);
}

}
} // namespace deltascope::http
