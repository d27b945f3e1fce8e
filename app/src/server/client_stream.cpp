#include "client_stream.h"

#include <boost/asio/post.hpp>

namespace deltascope::server {

namespace net = boost::asio;
using ErrorCode = boost::beast::error_code;

void ClientStream::handshake(Done done)
{
    if (!m_tls)
        return done({});
    m_tls->next_layer().async_handshake(net::ssl::stream_base::server, std::move(done));
}

void ClientStream::finishSending(Done done)
{
    if (m_tls)
        return m_tls->next_layer().async_shutdown(std::move(done));
    ErrorCode ignored;
    m_plain.socket().shutdown(net::socket_base::shutdown_send, ignored);
    done({});
}

void ClientStream::drain(Done done)
{
    m_plain.async_read_some(net::buffer(m_unread),
                            [this, done = std::move(done)](ErrorCode error, std::size_t) mutable {
                                if (error)
                                    return done(error);
                                drain(std::move(done));
                            });
}

} // namespace deltascope::server
