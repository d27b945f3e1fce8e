#pragma once

#include "auth.h"
#include "event_hub.h"
#include "guards.h"
#include "http.h"
#include "request_head.h"
#include "site.h"
#include "target.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace deltascope::server {

/// A request that the Api answers, after its body was read.
struct ApiCall {
    HttpRequest request;
};
/// POST /api/v1/session, after its body was read.
struct SignInCall {
    std::string client;
    bool secure = false; ///< the browser speaks TLS with a proxy
};
/// GET /api/v1/events.
struct EventsCall {
    EventHub::Filter filter;
    std::uint64_t position = 0;
    Credentials credentials; ///< looked at again while the stream is open
    std::string principal; ///< name of who listens
};
/// What comes of the head of a request: an answer at once, or what is still to be done.
using Admission = std::variant<HttpResponse, ApiCall, SignInCall, EventsCall>;

/// Decides what a request may do and who answers it. Knows neither sockets nor threads; not thread-safe.
class Router {
public:
    /// `basePath` begins and ends with a slash.
    Router(std::string basePath, std::string cookieName, Guards guards, Site site, Auth& auth, EventHub& hub, Api& api);

    Admission admit(const RequestHead& head);
    HttpResponse signIn(const SignInCall& call, std::string_view body);

    const Guards& guards() const noexcept { return m_guards; }

private:
    Admission admitApi(const RequestHead& head, Target target);
    HttpResponse session(const RequestHead& head);
    HttpResponse metrics(const RequestHead& head);
    EventsCall events(const RequestHead& head, const Target& target, const Principal& principal) const;
    Credentials credentialsOf(const RequestHead& head) const;
    std::string cookie(std::string_view value, std::string_view attributes) const;

    const std::string m_basePath;
    const std::string m_cookieName;
    const Guards m_guards;
    const Site m_site;
    Auth& m_auth;
    EventHub& m_hub;
    Api& m_api;
};

} // namespace deltascope::server
