#pragma once

#include "listen_address.h"
#include "peer.h"

#include "deltascope/base/result.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace deltascope::server {

/// Takes connections on one address, TCP or Unix, and hands them on.
class Listener : public std::enable_shared_from_this<Listener> {
public:
    using Protocol = boost::asio::generic::stream_protocol;
    using Take = std::function<void(Protocol::socket socket, Peer peer)>;

    static Result<std::shared_ptr<Listener>> listenTcp(boost::asio::io_context& io, const ListenAddress& address);
    /// A socket that nobody listens on any more is replaced. Its mode is 0600.
    static Result<std::shared_ptr<Listener>> listenUnix(boost::asio::io_context& io, const std::string& path);

    explicit Listener(boost::asio::io_context& io);

    void start(Take take);
    void close();
    std::uint16_t port() const noexcept { return m_port; }
    bool isLoopback() const noexcept { return m_loopback; }

private:
    void accept();

    boost::asio::basic_socket_acceptor<Protocol> m_acceptor;
    boost::asio::steady_timer m_pause;
    Take m_take;
    Protocol::endpoint m_peer;
    std::string m_unixPath;
    std::uint16_t m_port = 0;
    bool m_loopback = true;
};

} // namespace deltascope::server
