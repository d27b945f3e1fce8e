#include "request_head.h"

#include "token_file.h"
#include "trusted_proxies.h"

#include <boost/beast/core/string.hpp>

namespace deltascope::server {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

std::string joined(const http::fields& fields, beast::string_view name)
{
    std::string values;
    const auto [begin, end] = fields.equal_range(name);
    for (auto field = begin; field != end; ++field)
        values += (field == begin ? "" : ",") + std::string(field->value());
    return values;
}

/// A proxy that understands another coding than we do would see another end of the body, and another next request.
bool isFramed(const http::fields& fields)
{
    const std::size_t codings = fields.count(http::field::transfer_encoding);
    return codings == 0 || (codings == 1 && beast::iequals(fields[http::field::transfer_encoding], "chunked"));
}

}

RequestHead requestHead(const http::request_header<>& header, const TrustedProxies& proxies, const Peer& peer)
{
    const auto once = [&](auto name) { return header.count(name) == 1 ? std::string(header[name]) : std::string(); };
    RequestHead head;
    head.method = std::string(header.method_string());
    head.target = std::string(header.target());
    head.host = once(http::field::host);
    head.origin = once(http::field::origin);
    head.fetchSite = once("Sec-Fetch-Site");
    head.contentType = once(http::field::content_type);
    head.authorization = once(http::field::authorization);
    head.cookie = once(http::field::cookie);
    if (proxies.include(peer))
        head.proxyUser = once(proxies.header());
    head.acceptEncoding = once(http::field::accept_encoding);
    head.ifNoneMatch = once(http::field::if_none_match);
    head.lastEventId = once("Last-Event-ID");
    head.client = isPrincipalName(head.proxyUser) ? "user " + head.proxyUser
                                                  : proxies.clientOf(peer, joined(header, "X-Forwarded-For"));
    head.isFramed = isFramed(header);
    return head;
}

} // namespace deltascope::server
