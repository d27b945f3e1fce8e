#pragma once

#include "deltascope/app/alert_channel.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::http {
class Client;
}

namespace deltascope::app {

/// What became of the messages of one channel.
struct SentCounts {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0; ///< given up, or dropped from a full queue
    std::uint64_t waiting = 0; ///< or under way
    std::optional<bool> lastArrived; ///< whether the last message did; nothing: none has ended yet
    std::optional<std::int64_t> lastFailedUs; ///< since 1970
    std::string lastFailure; ///< why; holds no secret of the channel
};

/// Sends messages about alerts to channels, each on a thread of its own: a slow one holds up nobody. A message is tried
/// four times, with growing pauses between. Any thread.
class AlertSender {
public:
    explicit AlertSender(std::vector<AlertChannel> channels = {}, std::string pageUrl = {},
                         std::chrono::milliseconds firstPause = std::chrono::seconds(1));
    /// Stops at once; what was not sent yet is lost.
    ~AlertSender();
    AlertSender(const AlertSender&) = delete;
    AlertSender& operator=(const AlertSender&) = delete;

    /// From now on to these; what was not sent yet is lost. `pageUrl`: where the web page is, with a slash at the end;
    /// empty: unknown.
    void setChannels(std::vector<AlertChannel> channels, std::string pageUrl);

    /// Queues a message for every channel that wants this level. Returns at once.
    void send(const AlertView& alert, std::int64_t nowUs);
    /// Queues a message that says it is a test, for one channel.
    void test(std::size_t channel, std::int64_t nowUs);

    std::vector<AlertChannelView> channels() const; ///< with what became of their messages
    std::vector<SentCounts> counts() const; ///< in the order of channels()

private:
    class Line;
    using Lines = std::vector<std::shared_ptr<Line>>;
    Lines lines() const;

    const std::chrono::milliseconds m_firstPause;
    const std::unique_ptr<http::Client> m_client; ///< of all channels
    mutable std::mutex m_mutex; ///< guards what follows
    Lines m_lines;
    std::string m_pageUrl;
};

} // namespace deltascope::app
