#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_stream.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace deltascope::server {

/// A connected socket, TCP or Unix, with or without TLS, with time limits. Reads and writes as streams of Asio do.
class ClientStream {
public:
    using Plain = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
    using Done = std::function<void(boost::beast::error_code)>;
    using executor_type = Plain::executor_type;

    /// `tls`: null: none; outlives it.
    ClientStream(Plain::socket_type socket, boost::asio::ssl::context* tls)
        : m_plain(std::move(socket))
    {
        if (tls)
            m_tls.emplace(m_plain, *tls);
    }
    // The one stream refers to the other.
    ClientStream(const ClientStream&) = delete;
    ClientStream& operator=(const ClientStream&) = delete;

    /// What comes before the first byte can be read: nothing without TLS.
    void handshake(Done done);
    /// Tells the other side that nothing more comes. What it still sends is read by drain().
    void finishSending(Done done);
    /// Reads and throws away until the other side ends, too.
    void drain(Done done);

    executor_type get_executor() noexcept { return m_plain.get_executor(); }
    Plain::socket_type& socket() noexcept { return m_plain.socket(); }
    void expires_after(std::chrono::milliseconds time) { m_plain.expires_after(time); }
    void close() { m_plain.close(); }

    template <class Buffers, BOOST_BEAST_ASYNC_TPARAM2 Handler>
    BOOST_BEAST_ASYNC_RESULT2(Handler)
    async_read_some(const Buffers& buffers, Handler&& handler)
    {
        if (m_tls)
            return m_tls->async_read_some(buffers, std::forward<Handler>(handler));
        return m_plain.async_read_some(buffers, std::forward<Handler>(handler));
    }
    template <class Buffers, BOOST_BEAST_ASYNC_TPARAM2 Handler>
    BOOST_BEAST_ASYNC_RESULT2(Handler)
    async_write_some(const Buffers& buffers, Handler&& handler)
    {
        if (m_tls)
            return m_tls->async_write_some(buffers, std::forward<Handler>(handler));
        return m_plain.async_write_some(buffers, std::forward<Handler>(handler));
    }

private:
    Plain m_plain;
    /// Flat: small buffers would become a record each.
    std::optional<boost::beast::flat_stream<boost::asio::ssl::stream<Plain&>>> m_tls;
    std::array<char, 4'096> m_unread;
};

} // namespace deltascope::server
