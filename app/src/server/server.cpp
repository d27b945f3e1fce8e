#include "server.h"

#include "connection.h"
#include "core.h"
#include "event_stream.h"
#include "listen_address.h"
#include "listener.h"
#include "tls.h"
#include "trusted_file.h"

#include "deltascope/base/threads.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <thread>

namespace deltascope::server {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;

namespace {

Result<void> checkReach(const Listener& listener, const ServerOptions& options)
{
    if (listener.isLoopback())
        return {};
    if (options.tokenFile.empty() && options.authProxyHeader.empty())
        return fail(Code::Usage, "other machines can reach this address, and nothing tells their users apart",
                    options.listen,
                    "Listen on 127.0.0.1 and use ssh -L, or give --token-file FILE or --auth-proxy HEADER.");
    if (options.tlsCertificate.empty() && !options.insecureHttp)
        return fail(
            Code::Usage, "tokens and weights would cross the network in clear text", options.listen,
            "Give --tls-cert FILE and --tls-key FILE, or listen on 127.0.0.1 behind a proxy with TLS or ssh -L; "
            "--insecure-http allows clear text on a network that you trust.");
    return {};
}

Result<std::vector<Token>> loadTokens(const std::string& path, std::vector<std::string>& warnings)
{
    DS_TRY(const std::string text, readSecretFile(path, "token file", warnings));
    auto tokens = parseTokens(text);
    if (!tokens)
        tokens.error().where = path;
    return tokens;
}

}

class Server::Impl {
public:
    Impl(std::shared_ptr<net::io_context> io, std::unique_ptr<Core> core,
         std::vector<std::shared_ptr<Listener>> listeners, std::vector<std::string> warnings)
        : m_io(std::move(io))
        , m_core(std::move(core))
        , m_listeners(std::move(listeners))
        , m_warnings(std::move(warnings))
        , m_flushTimer(*m_io)
        , m_drainTimer(*m_io)
        , m_work(net::make_work_guard(*m_io))
    {
    }

    Result<void> run()
    {
        m_core->hub.setListener([this] {
            if (!m_pumping.exchange(true))
                net::post(*m_io, [this] { pump(); });
        });
        for (const auto& listener : m_listeners)
            listener->start([this](auto socket, Peer peer) { take(std::move(socket), std::move(peer)); });
        Result<std::jthread> thread = startThread([this] { serve(); });
        if (!thread)
            return fail(std::move(thread.error()));
        m_thread = std::move(*thread);
        return {};
    }

    void stop()
    {
        m_core->hub.setListener({});
        if (!m_thread.joinable())
            return;
        net::post(*m_io, [this] {
            m_core->stopping = true;
            for (const auto& listener : m_listeners)
                listener->close();
            m_flushTimer.cancel();
            for (const auto& stream : std::set(m_core->streams))
                stream->close();
            for (const auto& connection : std::set(m_core->connections))
                connection->finish();
            drain(kDrainLooks);
        });
        m_thread.join();
    }

    const ServerOptions& options() const { return m_core->options; }
    const std::vector<std::string>& warnings() const { return m_warnings; }
    const std::string& code() const { return m_core->auth.code(); }
    std::uint16_t port() const { return m_listeners.front()->port(); }
    bool isLoopback() const { return m_listeners.front()->isLoopback(); }

private:
    /// A request that exhausts the memory ends nothing but itself.
    void serve()
    {
        const auto run = [this]() -> Result<void> {
            m_io->run();
            return {};
        };
        while (!caught(run)) { }
    }

    static constexpr int kDrainLooks = 50;
    static constexpr std::chrono::milliseconds kDrainInterval { 10 };

    void take(Listener::Protocol::socket socket, Peer peer)
    {
        const bool limited = peer.address && !m_core->proxies.include(peer);
        const std::string client = limited ? clientOf(peer) : std::string();
        if (!makeRoom(client))
            return refuse(socket, peer);
        const auto connection = std::make_shared<Connection>(*m_core, std::move(socket), std::move(peer),
                                                             ConnectionSlots::Slot(m_core->slots, client));
        m_core->connections.insert(connection);
        connection->start();
    }

    /// Where there are too many connections, the one goes that waits for its client for the
    /// longest time. `client`: empty:
    /// without a limit of its own.
    bool makeRoom(const std::string& client)
    {
        const bool clientIsFull = !client.empty() && m_core->slots.of(client) >= m_core->options.maxOfClient;
        if (!clientIsFull && m_core->slots.all() < m_core->options.maxClients)
            return true;
        std::shared_ptr<Connection> oldest;
        for (const auto& connection : m_core->connections) {
            if (connection->waitsSince() && (!clientIsFull || connection->client() == client)
                && (!oldest || *connection->waitsSince() < *oldest->waitsSince()))
                oldest = connection;
        }
        if (oldest)
            oldest->close();
        return oldest != nullptr;
    }

    void refuse(Listener::Protocol::socket& socket, const Peer& peer) const
    {
        if (m_core->tls && peer.address) // clear text would not be understood
            return;
        static constexpr std::string_view kFull =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n";
        ErrorCode ignored;
        socket.non_blocking(true, ignored);
        socket.write_some(net::buffer(kFull), ignored);
    }

    /// Sends what the hub has, and comes again when the hub holds something back.
    void pump()
    {
        m_pumping = false;
        if (const auto wait = m_core->hub.flush()) {
            m_flushTimer.expires_after(*wait);
            m_flushTimer.async_wait([this](ErrorCode error) {
                if (!error)
                    pump();
            });
        }
        for (const auto& stream : std::set(m_core->streams))
            stream->wake();
    }

    void drain(int looksLeft)
    {
        if (m_core->connections.empty() || looksLeft == 0) {
            for (const auto& connection : std::set(m_core->connections))
                connection->close();
            m_work.reset();
            return;
        }
        m_drainTimer.expires_after(kDrainInterval);
        m_drainTimer.async_wait([this, looksLeft](ErrorCode) { drain(looksLeft - 1); });
    }

    std::shared_ptr<net::io_context> m_io;
    std::unique_ptr<Core> m_core;
    std::vector<std::shared_ptr<Listener>> m_listeners;
    const std::vector<std::string> m_warnings;
    net::steady_timer m_flushTimer;
    net::steady_timer m_drainTimer;
    net::executor_work_guard<net::io_context::executor_type> m_work;
    std::atomic<bool> m_pumping = false;
    std::jthread m_thread;
};

Result<std::unique_ptr<Server>> Server::start(ServerOptions given, Api& api, EventHub& hub)
{
    DS_TRY(ServerOptions options, checked(std::move(given)));
    std::vector<std::string> warnings;
    std::vector<Token> tokens;
    if (!options.tokenFile.empty()) {
        DS_TRY(tokens, loadTokens(options.tokenFile, warnings));
    }
    std::shared_ptr<net::ssl::context> tls;
    if (!options.tlsCertificate.empty()) {
        DS_TRY(tls, makeTls(options.tlsCertificate, options.tlsKey, warnings));
    }
    DS_TRY(TrustedProxies proxies, TrustedProxies::make(options.authProxyHeader, options.authProxyFrom));
    const auto io = std::make_shared<net::io_context>(1);
    std::vector<std::shared_ptr<Listener>> listeners;
    std::vector<std::string> hosts = options.allowedHosts;
    if (!options.listen.empty()) {
        DS_TRY(const ListenAddress address, parseListenAddress(options.listen));
        DS_TRY(auto listener, Listener::listenTcp(*io, address));
        DS_CHECK(checkReach(*listener, options));
        hosts.push_back(address.host);
        listeners.push_back(std::move(listener));
    }
    if (!options.unixSocket.empty()) {
        DS_TRY(auto listener, Listener::listenUnix(*io, options.unixSocket));
        listeners.push_back(std::move(listener));
    }
    auto core = std::make_unique<Core>(options, io, std::move(tokens), cookieName(options, listeners.front()->port()),
                                       Guards(hosts, options.embedders), std::move(proxies), std::move(tls), api, hub);
    auto server = std::unique_ptr<Server>(
        new Server(std::make_unique<Impl>(io, std::move(core), std::move(listeners), std::move(warnings))));
    DS_CHECK(server->m_impl->run());
    return server;
}

Server::Server(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}

Server::~Server() { stop(); }

void Server::stop() { m_impl->stop(); }

std::uint16_t Server::port() const noexcept { return m_impl->port(); }

bool Server::isLoopback() const noexcept { return m_impl->isLoopback(); }

const std::vector<std::string>& Server::warnings() const noexcept { return m_impl->warnings(); }

std::string Server::url() const
{
    const ServerOptions& options = m_impl->options();
    std::string authority = "localhost";
    if (const auto address = parseListenAddress(options.listen)) {
        std::string host = address->host;
        if (host == "0.0.0.0" || host == "::") // every address of this machine, and no name of one
            host = options.allowedHosts.empty() ? authority : options.allowedHosts.front();
        const bool isV6 = host.find(':') != std::string::npos;
        authority = fmt::format("{}:{}", isV6 ? "[" + host + "]" : host, port());
    }
    return (options.tlsCertificate.empty() ? "http://" : "https://") + authority + options.basePath;
}

std::string Server::signInUrl() const { return url() + "#k=" + m_impl->code(); }

} // namespace deltascope::server
