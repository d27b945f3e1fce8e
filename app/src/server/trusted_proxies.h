#pragma once

#include "peer.h"

#include "deltascope/base/result.h"

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// From where a proxy may come that vouches for users: some networks, and the Unix socket, which only its owner
/// reaches.
class TrustedProxies {
public:
    TrustedProxies() = default; ///< nobody is a proxy

    /// `header`: in which they name the user; empty: nobody is a proxy. `networks`: "10.1.0.0/16", "fd00::/8", or one
    /// address; none: those of loopback. Errors: Usage.
    static Result<TrustedProxies> make(std::string header, const std::vector<std::string>& networks);

    const std::string& header() const noexcept { return m_header; }

    bool include(const Peer& peer) const;

    /// Whose failures to sign in are counted: the last address that a proxy forwards for, else the peer itself.
    /// `forwardedFor`: all X-Forwarded-For headers, joined by commas; the last one is the proxy's own word.
    std::string clientOf(const Peer& peer, std::string_view forwardedFor) const;

private:
    Result<void> add(const std::string& network);

    std::string m_header;
    std::vector<boost::asio::ip::network_v4> m_v4;
    std::vector<boost::asio::ip::network_v6> m_v6;
};

} // namespace deltascope::server
