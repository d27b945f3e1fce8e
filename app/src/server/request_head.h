#pragma once

#include <string>

namespace deltascope::server {

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
    std::string proxyUser; ///< the header of ServerOptions::authProxyHeader
    std::string acceptEncoding;
    std::string ifNoneMatch;
    std::string lastEventId;
    std::string client; ///< address of the other side
};

} // namespace deltascope::server
