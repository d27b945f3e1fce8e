#include "guards.h"

#include "problem.h"

#include <algorithm>

namespace deltascope::server {

namespace {

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
    return out;
}

bool changesState(const std::string& method) { return method != "GET" && method != "HEAD"; }

/// "https://example.org:8443" -> "example.org:8443"; empty for everything else, "null" included.
std::string_view authorityOf(std::string_view origin)
{
    for (const std::string_view scheme : { "https://", "http://" }) {
        if (origin.starts_with(scheme))
            return origin.substr(scheme.size());
    }
    return {};
}

}

std::string hostName(std::string_view hostAndPort)
{
    if (hostAndPort.starts_with('[')) {
        const std::size_t end = std::min(hostAndPort.find(']'), hostAndPort.size());
        return lower(hostAndPort.substr(1, end - 1));
    }
    std::string_view name = hostAndPort.substr(0, hostAndPort.find(':'));
    if (name.ends_with('.'))
        name.remove_suffix(1);
    return lower(name);
}

bool isOrigin(std::string_view text)
{
    const std::string_view authority = authorityOf(text);
    return !authority.empty() && std::all_of(authority.begin(), authority.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view(".-:[]*").find(c) != std::string_view::npos;
    });
}

Guards::Guards(const std::vector<std::string>& hosts, const std::vector<std::string>& embedders)
    : m_hosts { "localhost", "127.0.0.1", "::1" }
{
    for (const std::string& host : hosts)
        m_hosts.insert(hostName(host));
    std::string ancestors;
    for (const std::string& origin : embedders)
        ancestors += " " + origin;
    m_headers = {
        { "Content-Security-Policy",
          "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
          "frame-ancestors"
              + (ancestors.empty() ? " 'none'" : ancestors) },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
    };
}

std::optional<HttpResponse> Guards::refusal(const RequestHead& head, bool isApi) const
{
    if (!m_hosts.contains(hostName(head.host)))
        return problem(421, Code::Usage, "This daemon does not answer to the host name of the request.",
                       "Use the printed address, or start serve with --allow-host NAME.");
    const bool otherSite = head.fetchSite == "cross-site" || head.fetchSite == "same-site";
    if (otherSite && (changesState(head.method) || isApi))
        return problem(403, Code::Auth, "The request comes from a page of another site.",
                       "Open the dashboard itself; other sites cannot read or change anything here.");
    if (!changesState(head.method))
        return std::nullopt;
    if (!head.origin.empty() && lower(authorityOf(head.origin)) != lower(head.host))
        return problem(403, Code::Auth, "The origin of the request is not this daemon.",
                       "Behind a proxy, pass the Host header on unchanged.");
    // What a browser adds by itself proves nothing without an origin; a token was put there on purpose.
    const bool ambient = !head.cookie.empty() || !head.proxyUser.empty();
    if (head.origin.empty() && ambient && head.authorization.empty())
        return problem(403, Code::Auth, "A request that changes something needs an Origin header or a token.",
                       "Scripts send Authorization: Bearer TOKEN.");
    return std::nullopt;
}

} // namespace deltascope::server
