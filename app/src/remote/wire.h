#pragma once

#include "deltascope/app/remote.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

using WireQuery = std::map<std::string, std::string>;

/// Asks one server over kept connections. Any thread; each call waits for its answer. Follows no redirects.
class Wire {
public:
    /// `secret`: empty: none.
    Wire(ServerAddress address, std::string secret);
    ~Wire();
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

    const ServerAddress& address() const noexcept { return m_address; }
    /// Lines that say who asks. For requests that are not made here.
    std::vector<std::string> headers() const;
    std::string urlOf(const std::string& path, const WireQuery& query = {}) const;
    /// What a status other than a good one means.
    Error errorOf(long status, const std::string& body) const;
    Error noContact(const std::string& why) const;

private:
    class Line;
    struct Answer {
        long status = 0;
        std::string body;
        std::string cookie; ///< of a Set-Cookie, without its attributes
    };
    struct Request {
        std::string url;
        const std::string* body = nullptr; ///< null: GET
        const Stopped* stopped = nullptr;
    };
    Result<Answer> exchange(const Request& request);
    std::unique_ptr<Line> takeLine();

    const ServerAddress m_address;
    const std::string m_secret;
    std::atomic<bool> m_stopped = false;
    mutable std::mutex m_mutex; ///< guards what follows
    std::string m_cookie;
    std::vector<std::unique_ptr<Line>> m_idle;
};

/// One part of a path, escaped.
std::string pathPart(std::string_view text);

} // namespace deltascope::app
