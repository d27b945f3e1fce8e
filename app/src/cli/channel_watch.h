#pragma once

#include "deltascope/app/alert_sender.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace deltascope::cli {

/// What became of messages, as lines for people: one when a channel begins to fail, one when a message arrives again.
/// One thread.
class ChannelTurns {
public:
    /// `channels`: as they are now; always the same ones.
    std::vector<std::string> look(const std::vector<app::AlertChannelView>& channels);

private:
    struct Seen {
        std::uint64_t failed = 0;
        bool fails = false;
    };
    std::vector<Seen> m_seen;
};

/// Looks at the channels every second, and once more at its end.
class ChannelWatch {
public:
    /// `sender` outlives it. `tell` is called on a thread of its own.
    ChannelWatch(const app::AlertSender& sender, std::function<void(const std::string& line)> tell);
    ~ChannelWatch();
    ChannelWatch(const ChannelWatch&) = delete;
    ChannelWatch& operator=(const ChannelWatch&) = delete;

    /// Once. Errors: Io (the system gives no thread).
    Result<void> start();

private:
    void run(const std::stop_token& stop);

    const app::AlertSender& m_sender;
    const std::function<void(const std::string& line)> m_tell;
    ChannelTurns m_turns;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread; ///< last: it uses all of the above
};

} // namespace deltascope::cli
