#include "scripted_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <csignal>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace deltascope::test {

namespace {

bool isSameText(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// OpenSSL writes to sockets without MSG_NOSIGNAL.
void blockBrokenPipe()
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

}

std::string ScriptedServer::Request::target() const
{
    const std::size_t begin = head.find(' ') + 1;
    return head.substr(begin, head.find(' ', begin) - begin);
}

std::string ScriptedServer::Request::header(std::string_view name) const
{
    for (std::size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at)) {
        at += 2;
        const std::string_view line = std::string_view(head).substr(at, head.find("\r\n", at) - at);
        const std::size_t colon = line.find(": ");
        if (colon != std::string_view::npos && isSameText(line.substr(0, colon), name))
            return std::string(line.substr(colon + 2));
    }
    return {};
}

std::int64_t ScriptedServer::Connection::receive(char* bytes, std::size_t most) const
{
    return m_tls ? SSL_read(m_tls, bytes, static_cast<int>(most)) : recv(m_socket, bytes, most, 0);
}

bool ScriptedServer::Connection::send(std::string_view text) const
{
    const std::string kept(text); // a test may change its own as soon as the client has all of it
    std::string_view bytes = kept;
    while (!bytes.empty()) {
        const ssize_t sent = m_tls ? SSL_write(m_tls, bytes.data(), static_cast<int>(bytes.size()))
                                   : ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void ScriptedServer::Connection::hold() const
{
    std::array<char, 4096> ignored;
    while (receive(ignored.data(), ignored.size()) > 0) { }
}

void ScriptedServer::Connection::reset()
{
    sockaddr nobody {}; // to connect to nobody sends a reset, and leaves the descriptor for the end
    nobody.sa_family = AF_UNSPEC;
    connect(m_socket, &nobody, sizeof nobody);
    m_isOpen = false;
}

ScriptedServer::ScriptedServer(Script script, const TlsIdentity* tls)
    : m_script(std::move(script))
    , m_tls(tls)
    , m_listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
    sockaddr_in address {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(m_listener, generic, size) != 0 || listen(m_listener, 128) != 0
        || getsockname(m_listener, generic, &size) != 0)
        throw std::runtime_error("there is no port to listen on");
    m_port = ntohs(address.sin_port);
    m_thread = std::thread([this] { accept(); });
}

ScriptedServer::~ScriptedServer()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
    }
    shutdown(m_listener, SHUT_RDWR); // ends accept
    m_thread.join();
    close(m_listener);
    for (const Line& line : m_lines)
        shutdown(line.socket, SHUT_RDWR);
    for (Line& line : m_lines) {
        line.thread.join();
        close(line.socket);
    }
}

std::string ScriptedServer::host() const { return "127.0.0.1:" + std::to_string(m_port); }

std::vector<ScriptedServer::Request> ScriptedServer::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

std::size_t ScriptedServer::connections() const
{
    const std::lock_guard lock(m_mutex);
    return m_lines.size();
}

void ScriptedServer::accept()
{
    while (true) {
        const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        const std::lock_guard lock(m_mutex);
        if (socket < 0 || m_isEnding) {
            if (socket >= 0)
                close(socket);
            return;
        }
        const std::size_t number = m_lines.size() + 1;
        m_lines.push_back({ socket, std::thread([this, socket, number] { serve(socket, number); }) });
    }
}

void ScriptedServer::serve(int socket, std::size_t number)
{
    blockBrokenPipe();
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(m_tls ? SSL_new(m_tls->context()) : nullptr, &SSL_free);
    Connection connection(socket, tls.get());
    if (tls && (SSL_set_fd(tls.get(), socket) != 1 || SSL_accept(tls.get()) != 1))
        connection.close();
    std::string buffer;
    for (Request request { {}, {}, number }; connection.isOpen() && readRequest(connection, buffer, request);) {
        {
            const std::lock_guard lock(m_mutex);
            m_requests.push_back(request);
        }
        m_script(request, connection);
    }
    shutdown(socket, SHUT_RDWR);
}

bool ScriptedServer::readRequest(const Connection& connection, std::string& buffer, Request& request)
{
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
        if (!readSome(connection, buffer))
            return false;
    }
    request.head = buffer.substr(0, end + 2);
    buffer.erase(0, end + 4);
    const std::string length = request.header("Content-Length");
    const std::size_t bytes = length.empty() ? 0 : std::stoul(length);
    while (buffer.size() < bytes) {
        if (!readSome(connection, buffer))
            return false;
    }
    request.body = buffer.substr(0, bytes);
    buffer.erase(0, bytes);
    return true;
}

bool ScriptedServer::readSome(const Connection& connection, std::string& buffer)
{
    std::array<char, 65536> bytes;
    const std::int64_t got = connection.receive(bytes.data(), bytes.size());
    if (got <= 0)
        return false;
    m_bytesIn += static_cast<std::uint64_t>(got);
    buffer.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

std::string answerText(int status, std::string_view body, std::string_view lines)
{
    return "HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"
        + std::string(lines) + "\r\n" + std::string(body);
}

} // namespace deltascope::test
