#pragma once

#include "deltascope/app/remote.h"
#include "deltascope/engine/http.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace deltascope::app {

using WireQuery = std::map<std::string, std::string>;

/// Asks one server over kept connections. Any thread; each call waits for its answer. Follows no redirects.
class Wire {
public:
    /// `secret`: empty: none.
    Wire(ServerAddress address, std::string secret);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Gets a session for the secret; nothing to do without one. Errors: as get().
    Result<void> signIn();

    using Stopped = std::function<bool()>;
    /// `path` is below api/v1/. Errors: Transient (no contact), Canceled, Auth, and what the server answers.
    Result<std::string> get(const std::string& path, const WireQuery& query = {}, const Stopped& stopped = {});
    Result<std::string> post(const std::string& path, const std::string& json);

    /// Everything that is under way ends at once, and so does everything later.
    void stop() noexcept;

    /// Begins a GET whose answer goes to `sink` as it comes, and is lost once nothing comes for `silence`.
    http::Exchange listen(const std::string& path, const WireQuery& query, http::Sink& sink,
                          std::chrono::milliseconds silence);

    const ServerAddress& address() const noexcept { return m_address; }
    /// What a status other than a good one means.
    Error errorOf(int status, const std::string& body) const;
    Error noContact(const std::string& why) const;

private:
    http::Request request(const std::string& path, const WireQuery& query = {}) const;
    http::Request request(const std::string& path, std::string json) const;
    /// The answer, if it is a good one. `stopped` may be empty.
    Result<http::Response> exchange(http::Request request, const Stopped& stopped);

    const ServerAddress m_address;
    const std::string m_secret;
    std::atomic<bool> m_stopped = false;
    http::Client m_client;
    mutable std::mutex m_mutex; ///< guards what follows
    std::string m_cookie;
};

/// One part of a path, escaped.
std::string pathPart(std::string_view text);

} // namespace deltascope::app
