#pragma once

#include "peer.h"

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <string>

namespace deltascope::server {

class TrustedProxies;

/// What is read of the head of a request. A header that is not there, or there twice, is empty.
struct RequestHead {
    std::string method;
    std::string target;
    std::string host;
    std::string origin;
    std::string fetchSite; ///< Sec-Fetch-Site
    std::string contentType;
    std::string authorization;
    std::string cookie;
    std::string proxyUser; ///< whom a trusted proxy names
    std::string acceptEncoding;
    std::string ifNoneMatch;
    std::string lastEventId;
    std::string client; ///< whose failures to sign in count together
    bool isFramed = true; ///< where its body ends is certain: there is no transfer coding but chunked
};

/// Headers of proxies count only where `peer` is a trusted one.
RequestHead requestHead(const boost::beast::http::request_header<>& header, const TrustedProxies& proxies,
                        const Peer& peer);

} // namespace deltascope::server
