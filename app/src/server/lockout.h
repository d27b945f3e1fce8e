#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace deltascope::server {

/// Counts failed sign-ins by client, so that nobody guesses. Not thread-safe.
class Lockout {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxFailures = 5;
    static constexpr std::chrono::minutes kWindow { 1 };

    explicit Lockout(std::function<Clock::time_point()> now);

    void fail(const std::string& client);
    /// Whether the client failed too often within the last minute.
    bool locked(const std::string& client);

private:
    void forgetOld();

    const std::function<Clock::time_point()> m_now;
    std::map<std::string, std::deque<Clock::time_point>> m_failures;
};

} // namespace deltascope::server
