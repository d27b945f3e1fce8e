#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace deltascope::server {

/// Makes clients wait that failed to sign in, so that nobody guesses: 1 s after the first failure, twice as long after
/// each further one, a minute at most. For a client that did not fail for ten minutes it is 1 s again. Not thread-safe.
class Lockout {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kLongest { 60 };
    static constexpr std::chrono::minutes kMemory { 10 };
    static constexpr std::size_t kMostClients = 10'000; ///< then the one that may try soonest is forgotten

    explicit Lockout(std::function<Clock::time_point()> now);

    void fail(const std::string& client);
    /// How long the client has to wait, in whole seconds; 0: it may try.
    std::chrono::seconds wait(const std::string& client) const;

private:
    struct Failures {
        int count = 0;
        Clock::time_point last;
        Clock::time_point until;
    };
    void makeRoom();

    const std::function<Clock::time_point()> m_now;
    std::map<std::string, Failures> m_failures;
    std::set<std::pair<Clock::time_point, std::string>> m_waits; ///< until when each client waits
};

} // namespace deltascope::server
