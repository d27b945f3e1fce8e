#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>

namespace deltascope::server {

/// The other side of a socket.
struct Peer {
    std::optional<boost::asio::ip::address> address; ///< IPv4 in its own form; nothing: the Unix socket
};

/// How clients are told apart where something is counted or limited: by IPv4 address or IPv6 network of 64 bits, as one
/// machine has all addresses of such a network.
std::string clientOf(const boost::asio::ip::address& address);
std::string clientOf(const Peer& peer); ///< "unix" for the Unix socket

/// IPv4 that was mapped into IPv6 in its own form; everything else as it is.
boost::asio::ip::address plainForm(const boost::asio::ip::address& address);

} // namespace deltascope::server
