#pragma once

#include "alerts/channel.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

/// What became of the messages of one channel.
struct SentCounts {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0; ///< given up
    std::uint64_t dropped = 0; ///< the queue was full
};

/// Sends messages about alerts to channels, each on a thread of its own: a slow one holds up nobody. A message is tried
/// four times, with growing pauses between. Any thread.
class AlertSender {
public:
    /// `pageUrl`: where the web page is, with a slash at the end; empty: unknown.
    AlertSender(std::vector<Channel> channels, std::string pageUrl,
                std::chrono::milliseconds firstPause = std::chrono::seconds(1));
    /// Stops at once; what was not sent yet is lost.
    ~AlertSender();
    AlertSender(const AlertSender&) = delete;
    AlertSender& operator=(const AlertSender&) = delete;

    /// Queues a message for every channel that wants this level. Returns at once.
    void send(const AlertView& alert, std::int64_t nowUs);

    std::vector<AlertChannelView> channels() const;
    std::vector<SentCounts> counts() const; ///< in the order of channels()

private:
    class Line;
    std::vector<std::unique_ptr<Line>> m_lines;
    std::string m_pageUrl;
};

} // namespace deltascope::app
