#pragma once

#include "tls_identity.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace deltascope::test {

/// An HTTP server on the loopback that does what a test says, byte by byte. Each connection has a thread of its own.
class ScriptedServer {
public:
    struct Request {
        std::string head; ///< request line and headers, as they came
        std::string body;
        std::size_t connection = 0; ///< its number, from 1

        std::string method() const { return head.substr(0, head.find(' ')); }
        std::string target() const;
        /// The value of a header; empty if there is none.
        std::string header(std::string_view name) const;
    };

    /// One connection, as a script sees it.
    class Connection {
    public:
        /// `tls`: null: plain.
        Connection(int socket, SSL* tls)
            : m_socket(socket)
            , m_tls(tls)
        {
        }
        /// Returns how many bytes came; 0 or less: none will.
        std::int64_t receive(char* bytes, std::size_t most) const;
        /// False: the client is gone, or the server ends.
        bool send(std::string_view bytes) const;
        /// Waits until the client is gone or the server ends.
        void hold() const;
        void close() { m_isOpen = false; }
        /// Drops the connection and what was not read, so that the client sees a reset.
        void reset();

        bool isOpen() const { return m_isOpen; }

    private:
        int m_socket;
        SSL* m_tls;
        bool m_isOpen = true;
    };

    /// Answers a request that was read to its end. The connection stays open unless the script ends it. Called by one
    /// thread per connection.
    using Script = std::function<void(const Request&, Connection&)>;

    /// `tls`: speaks TLS with this identity, which must live as long; null: plain.
    explicit ScriptedServer(Script script, const TlsIdentity* tls = nullptr);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    /// "127.0.0.1:port".
    std::string host() const;
    /// `path` begins with '/'.
    std::string url(std::string_view path = "/") const
    {
        return (m_tls ? "https://" : "http://") + host() + std::string(path);
    }
    std::vector<Request> requests() const;
    std::size_t connections() const;
    std::uint64_t bytesIn() const { return m_bytesIn; }

private:
    struct Line {
        int socket;
        std::thread thread;
    };

    void accept();
    void serve(int socket, std::size_t number);
    bool readRequest(const Connection& connection, std::string& buffer, Request& request);
    bool readSome(const Connection& connection, std::string& buffer);

    const Script m_script;
    const TlsIdentity* const m_tls;
    int m_listener = -1;
    std::uint16_t m_port = 0;
    std::atomic<std::uint64_t> m_bytesIn = 0;
    mutable std::mutex m_mutex; ///< guards what follows
    std::vector<Request> m_requests;
    std::vector<Line> m_lines;
    bool m_isEnding = false;
    std::thread m_thread; ///< last: it uses all of the above
};

/// An answer with its Content-Length. `lines`: further headers, each with its line end.
std::string answerText(int status, std::string_view body, std::string_view lines = {});

} // namespace deltascope::test
