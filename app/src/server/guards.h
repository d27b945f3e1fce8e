#pragma once

#include "http.h"
#include "request_head.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::server {

/// What a request has to be like before anybody looks at what it asks for.
class Guards {
public:
    /// `hosts`: names besides those of loopback that this daemon answers to. `embedders`: origins whose pages may show
    /// ours.
    Guards(const std::vector<std::string>& hosts, const std::vector<std::string>& embedders);

    /// Why the request is refused: a host name that is not ours (DNS rebinding), or one that another site made a
    /// browser send. Nothing if it may pass. `isApi`: the answer is data, not a page that people follow links to.
    std::optional<HttpResponse> refusal(const RequestHead& head, bool isApi) const;

    /// Headers of every answer.
    const std::vector<std::pair<std::string, std::string>>& headers() const noexcept { return m_headers; }

private:
    std::set<std::string, std::less<>> m_hosts;
    std::vector<std::pair<std::string, std::string>> m_headers;
};

/// "Example.org:80" -> "example.org", "[::1]:80" -> "::1".
std::string hostName(std::string_view hostAndPort);

/// "https://example.org" or "http://…", with or without port, and nothing behind it.
bool isOrigin(std::string_view text);

} // namespace deltascope::server
