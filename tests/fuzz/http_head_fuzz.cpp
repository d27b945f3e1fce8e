// The heads of requests to the daemon: the input is what a client sends. Seeds: tests/fuzz/seeds/http_head.

#include "server/request_head.h"
#include "server/router.h"
#include "server/trusted_proxies.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <cstdlib>

using namespace deltascope::server;
namespace http = boost::beast::http;

namespace {

constexpr std::string_view Token = "token-0123456789abcdef";
constexpr std::string_view Bearer = "Bearer token-0123456789abcdef";

void require(bool condition)
{
    if (!condition)
        std::abort();
}

class NoApi final : public Api {
public:
    void handle(const HttpRequest&, Reply) override { std::abort(); } // the router only decides
    std::string metrics() override { return "secret-metrics"; }
    bool ready() override { return true; }
};

/// Everything that a head meets, for one client after the other.
struct Daemon {
    Auth auth { parseTokens("reader read " + std::string(Token)).value(), false };
    EventHub hub;
    NoApi api;
    std::vector<Asset> assets { { "/index.html", "i", "<head><base href=\"/\" /></head>", "zip" } };
    Router router {
        "/ds/", "deltascope_fuzz", Guards({ "box.example.org" }, {}), Site(assets, "/ds/"), auth, hub, api
    };
    TrustedProxies proxies = TrustedProxies::make("X-User", { "10.0.0.1" }).value();
};

/// What comes of a head promises: data only for who is named, no answer without a status, no secret in one.
void check(Daemon& daemon, const http::request_header<>& header, const Peer& peer, bool isProxy)
{
    const RequestHead head = requestHead(header, daemon.proxies, peer);
    require(!head.client.empty());
    require(isProxy || head.proxyUser.empty());
    require(!isProxy || !isPrincipalName(head.proxyUser) || head.client == "user " + head.proxyUser);
    const bool isNamed = head.authorization == Bearer || isPrincipalName(head.proxyUser);

    const Admission admission = daemon.router.admit(head);
    if (const auto* response = std::get_if<HttpResponse>(&admission)) {
        require(response->status >= 200 && response->status <= 599);
        require(response->body.find(Token) == std::string::npos);
        require(isNamed || response->body.find("secret-metrics") == std::string::npos);
        require(head.isFramed || response->status == 501);
        return;
    }
    require(head.isFramed);
    require(head.fetchSite != "cross-site" && head.fetchSite != "same-site");
    if (const auto* call = std::get_if<ApiCall>(&admission)) {
        require(isNamed && call->request.principal.scope == Scope::Read);
        require(call->request.path.starts_with("/api/") && !call->request.principal.name.empty());
    } else if (const auto* events = std::get_if<EventsCall>(&admission)) {
        require(isNamed && events->credentials.client == head.client);
    } else {
        require(head.method == "POST" && std::get<SignInCall>(admission).client == head.client);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    http::request_parser<http::empty_body> parser;
    parser.header_limit(16'384);
    boost::beast::error_code error;
    // In two pieces, as a slow client sends it.
    std::size_t parsed = parser.put(boost::asio::buffer(data, size / 2), error);
    if (!parser.is_header_done() && (!error || error == http::error::need_more)) {
        error = {};
        parser.put(boost::asio::buffer(data + parsed, size - parsed), error);
    }
    if (!parser.is_header_done())
        return 0;
    Daemon daemon;
    check(daemon, parser.get(), { boost::asio::ip::make_address("192.0.2.1") }, false);
    check(daemon, parser.get(), { boost::asio::ip::make_address("10.0.0.1") }, true);
    check(daemon, parser.get(), {}, true);
    return 0;
}
