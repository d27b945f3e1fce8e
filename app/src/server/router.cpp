#include "router.h"

#include "problem.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope::server {

namespace {

constexpr std::string_view kApi = "/api/";
constexpr std::string_view kSession = "/api/v1/session";
constexpr std::string_view kEvents = "/api/v1/events";

HttpResponse plain(int status, std::string text, std::string contentType = "text/plain; charset=utf-8")
{
    HttpResponse response;
    response.status = status;
    response.contentType = std::move(contentType);
    response.body = std::move(text);
    return response;
}

HttpResponse refused(const Auth::Refusal& refusal)
{
    switch (refusal.kind) {
    case Auth::Refusal::LockedOut: {
        HttpResponse response =
            problem(429, Code::Auth, "Wrong codes or tokens came from this user or address; the next try has to wait.",
                    fmt::format("Wait {} s, then try the right one.", refusal.wait.count()));
        response.headers.emplace_back("Retry-After", std::to_string(refusal.wait.count()));
        return response;
    }
    case Auth::Refusal::Wrong:
        return problem(401, Code::Auth, "The code or token is not known, or the code was used before.",
                       "Restart the daemon for a new code, or use a token of its token file.");
    case Auth::Refusal::NotSignedIn:
        break;
    }
    HttpResponse response = problem(401, Code::Auth, "The request names nobody.",
                                    "Open the address that the daemon printed at start, or send a token.");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

HttpResponse notAllowed(const char* allowed)
{
    HttpResponse response = problem(405, Code::Usage, "The method does not fit the address.",
                                    "See /openapi.json for what each address takes.");
    response.headers.emplace_back("Allow", allowed);
    return response;
}

HttpResponse notFound()
{
    return problem(404, Code::NotFound, "There is nothing at this address.", "See /openapi.json for what there is.");
}

/// The value of one cookie of a Cookie header.
std::string cookieValue(std::string_view header, std::string_view name)
{
    while (!header.empty()) {
        const std::size_t end = std::min(header.find(';'), header.size());
        std::string_view pair = header.substr(0, end);
        pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
        if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
            return std::string(pair.substr(name.size() + 1));
        header.remove_prefix(std::min(end + 1, header.size()));
    }
    return {};
}

std::string_view valueOf(const Target& target, std::string_view key)
{
    const auto found = target.query.find(key);
    return found == target.query.end() ? std::string_view() : std::string_view(found->second);
}

}

Router::Router(std::string basePath, std::string cookieName, Guards guards, Site site, Auth& auth, EventHub& hub,
               Api& api)
    : m_basePath(std::move(basePath))
    , m_cookieName(std::move(cookieName))
    , m_guards(std::move(guards))
    , m_site(std::move(site))
    , m_auth(auth)
    , m_hub(hub)
    , m_api(api)
{
}

Admission Router::admit(const RequestHead& head)
{
    if (!head.isFramed)
        return problem(501, Code::Unsupported, "The transfer coding of the request is not chunked.",
                       "Send the body with Content-Length, or chunked.");
    std::optional<Target> target = parseTarget(head.target);
    if (!target)
        return problem(400, Code::Usage, "The address of the request is malformed.");
    const bool below = target->path.starts_with(m_basePath);
    if (below)
        target->path.erase(0, m_basePath.size() - 1);
    const bool isApi = below && target->path.starts_with(kApi);
    if (auto refusal = m_guards.refusal(head, isApi))
        return std::move(*refusal);
    if (isApi)
        return admitApi(head, std::move(*target));
    if (head.method != "GET" && head.method != "HEAD")
        return notAllowed("GET, HEAD");
    if (!below) {
        if (target->path + "/" != m_basePath)
            return notFound();
        HttpResponse response = plain(308, "");
        response.headers.emplace_back("Location", m_basePath);
        return response;
    }
    if (target->path == "/healthz")
        return plain(200, "ok\n");
    if (target->path == "/readyz")
        return m_api.ready() ? plain(200, "ready\n") : plain(503, "not ready\n");
    if (target->path == "/metrics")
        return metrics(head);
    return m_site.find(target->path, head.acceptEncoding).value_or(notFound());
}

Admission Router::admitApi(const RequestHead& head, Target target)
{
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (target.path == kSession) {
        if (head.method != "POST")
            return head.method == "DELETE" ? session(head) : notAllowed("POST, DELETE");
        if (!head.contentType.starts_with("application/json"))
            return problem(415, Code::Usage, "The body has to be application/json.");
        return SignInCall { head.client, head.origin.starts_with("https://") };
    }
    Auth::Outcome<Principal> principal = m_auth.identify(credentialsOf(head));
    if (!principal)
        return refused(principal.error());
    if (target.path == kEvents)
        return reads ? Admission(events(head, target, *principal)) : notAllowed("GET");
    if (!reads && head.method != "POST")
        return notAllowed("GET, HEAD, POST");
    if (head.method == "POST" && !head.contentType.empty() && !head.contentType.starts_with("application/json"))
        return problem(415, Code::Usage, "The body has to be application/json.");
    return ApiCall { HttpRequest {
        reads ? "GET" : "POST", std::move(target.path), std::move(target.query), {}, std::move(*principal) } };
}

HttpResponse Router::signIn(const SignInCall& call, std::string_view body)
{
    const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains("code") || !json["code"].is_string())
        return problem(400, Code::Usage, "The body has to be {\"code\": \"…\"}.");
    Auth::Outcome<Auth::Session> session = m_auth.signIn(json["code"].get_ref<const std::string&>(), call.client);
    if (!session)
        return refused(session.error());
    HttpResponse response;
    response.status = 204;
    response.headers.emplace_back("Set-Cookie",
                                  cookie(session->id, call.secure ? "; Max-Age=2592000; Secure" : "; Max-Age=2592000"));
    return response;
}

HttpResponse Router::session(const RequestHead& head)
{
    m_auth.signOut(cookieValue(head.cookie, m_cookieName));
    HttpResponse response;
    response.status = 204;
    response.headers.emplace_back("Set-Cookie", cookie("", "; Max-Age=0"));
    return response;
}

HttpResponse Router::metrics(const RequestHead& head)
{
    const Auth::Outcome<Principal> principal = m_auth.identify(credentialsOf(head));
    return principal ? plain(200, m_api.metrics(), "text/plain; version=0.0.4; charset=utf-8")
                     : refused(principal.error());
}

EventsCall Router::events(const RequestHead& head, const Target& target, const Principal& principal) const
{
    EventsCall call { {}, m_hub.end(), credentialsOf(head), principal.name };
    std::string_view topics = valueOf(target, "topics");
    while (!topics.empty()) {
        const std::size_t end = std::min(topics.find(','), topics.size());
        if (end > 0)
            call.filter.topics.emplace(topics.substr(0, end));
        topics.remove_prefix(std::min(end + 1, topics.size()));
    }
    call.filter.run = valueOf(target, "run");
    // A browser that reconnects knows better than the address it was given at first.
    const std::string_view since = head.lastEventId.empty() ? valueOf(target, "since") : head.lastEventId;
    if (!since.empty())
        call.position = m_hub.resume(since).value_or(EventHub::kLost);
    return call;
}

Credentials Router::credentialsOf(const RequestHead& head) const
{
    return { head.client, head.authorization, cookieValue(head.cookie, m_cookieName), head.proxyUser };
}

std::string Router::cookie(std::string_view value, std::string_view attributes) const
{
    return m_cookieName + "=" + std::string(value) + "; Path=" + m_basePath + "; HttpOnly; SameSite=Strict"
        + std::string(attributes);
}

} // namespace deltascope::server
