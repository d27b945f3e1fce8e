#include "listener.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deltascope::server {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;
using net::ip::tcp;

namespace {

constexpr std::chrono::milliseconds kPause { 100 }; ///< while the system has no descriptors left

tcp::endpoint asTcp(const Listener::Protocol::endpoint& generic)
{
    tcp::endpoint endpoint;
    if (generic.size() > endpoint.capacity())
        return endpoint;
    std::memcpy(endpoint.data(), generic.data(), generic.size());
    return endpoint;
}

tl::unexpected<Error> cannotListen(const std::string& where, const ErrorCode& error)
{
    return fail(error == net::error::address_in_use ? Code::Exists : Code::Io, "cannot listen: " + error.message(),
                where, "Choose another address, or stop what listens there.");
}

bool somebodyListens(net::io_context& io, const std::string& path)
{
    net::local::stream_protocol::socket probe(io);
    ErrorCode error;
    probe.connect(net::local::stream_protocol::endpoint(path), error);
    return !error;
}

}

Listener::Listener(net::io_context& io)
    : m_acceptor(io)
    , m_pause(io)
{
}

Result<std::shared_ptr<Listener>> Listener::listenTcp(net::io_context& io, const ListenAddress& address)
{
    const std::string where = fmt::format("{}:{}", address.host, address.port);
    ErrorCode error;
    const auto found =
        tcp::resolver(io).resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
    if (error)
        return cannotListen(where, error);
    const tcp::endpoint endpoint = found.begin()->endpoint();
    auto listener = std::make_shared<Listener>(io);
    auto& acceptor = listener->m_acceptor;
    acceptor.open(Protocol(endpoint.protocol()), error);
    if (!error)
        acceptor.set_option(net::socket_base::reuse_address(true), error);
    if (!error)
        acceptor.bind(endpoint, error);
    if (!error)
        acceptor.listen(net::socket_base::max_listen_connections, error);
    if (error)
        return cannotListen(where, error);
    listener->m_port = asTcp(acceptor.local_endpoint()).port();
    listener->m_loopback = endpoint.address().is_loopback();
    return listener;
}

Result<std::shared_ptr<Listener>> Listener::listenUnix(net::io_context& io, const std::string& path)
{
    struct stat status { };
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        return fail(Code::Usage, "the path of the socket is too long", path);
    if (lstat(path.c_str(), &status) == 0) {
        if (!S_ISSOCK(status.st_mode) || somebodyListens(io, path))
            return fail(Code::Exists, "something is at the path of the socket", path);
        unlink(path.c_str());
    }
    const net::local::stream_protocol::endpoint endpoint(path);
    auto listener = std::make_shared<Listener>(io);
    auto& acceptor = listener->m_acceptor;
    ErrorCode error;
    acceptor.open(Protocol(endpoint.protocol()), error);
    if (!error)
        acceptor.bind(endpoint, error);
    if (error)
        return cannotListen(path, error);
    listener->m_unixPath = path;
    // Nobody gets in between: connections are refused until listen().
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
        return fail(Code::Io, "the mode of the socket cannot be set", path);
    acceptor.listen(net::socket_base::max_listen_connections, error);
    if (error)
        return cannotListen(path, error);
    return listener;
}

void Listener::start(Take take)
{
    m_take = std::move(take);
    accept();
}

void Listener::accept()
{
    m_acceptor.async_accept(m_peer, [self = shared_from_this()](ErrorCode error, Protocol::socket socket) {
        if (error == net::error::operation_aborted)
            return;
        if (error) {
            self->m_pause.expires_after(kPause);
            self->m_pause.async_wait([self](ErrorCode canceled) {
                if (!canceled)
                    self->accept();
            });
            return;
        }
        Peer peer;
        if (self->m_unixPath.empty()) {
            socket.set_option(tcp::no_delay(true), error);
            peer.address = plainForm(asTcp(self->m_peer).address());
        }
        self->m_take(std::move(socket), std::move(peer));
        self->accept();
    });
}

void Listener::close()
{
    ErrorCode ignored;
    m_acceptor.close(ignored);
    m_pause.cancel();
    if (!m_unixPath.empty())
        unlink(m_unixPath.c_str());
}

} // namespace deltascope::server
