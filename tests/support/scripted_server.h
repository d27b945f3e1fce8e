#pragma once

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
        explicit Connection(int socket)
            : m_socket(socket)
        {
        }
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
        bool m_isOpen = true;
    };

    /// Answers a request that was read to its end. The connection stays open unless the script ends it. Called by one
    /// thread per connection.
    using Script = std::function<void(const Request&, Connection&)>;

    explicit ScriptedServer(Script script);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    /// "127.0.0.1:port".
    std::string host() const;
    /// `path` begins with '/'.
    std::string url(std::string_view path = "/") const { return "http://" + host() + std::string(path); }
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
    bool readRequest(int socket, std::string& buffer, Request& request);
    bool readSome(int socket, std::string& buffer);

    const Script m_script;
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
