#include "channel_watch.h"

#include "deltascope/base/threads.h"

#include <fmt/format.h>

namespace deltascope::cli {

namespace {

constexpr std::chrono::seconds BetweenLooks { 1 };

}

std::vector<std::string> ChannelTurns::look(const std::vector<app::AlertChannelView>& channels)
{
    std::vector<std::string> lines;
    m_seen.resize(channels.size());
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const app::AlertChannelView& channel = channels[i];
        Seen& seen = m_seen[i];
        const bool failed = channel.failed > seen.failed;
        seen.failed = channel.failed;
        const std::string who = fmt::format("channel {}, {} {}", i + 1, channel.kind, channel.name);
        if (failed && !seen.fails) {
            seen.fails = true;
            lines.push_back(
                fmt::format("warning: a message about an alert has not arrived ({}): {}", who, channel.lastFailure));
        } else if (!failed && seen.fails && channel.lastArrived.value_or(false)) {
            seen.fails = false;
            lines.push_back(fmt::format("messages about alerts arrive again ({}); {} have not", who, channel.failed));
        }
    }
    return lines;
}

ChannelWatch::ChannelWatch(const app::AlertSender& sender, std::function<void(const std::string& line)> tell)
    : m_sender(sender)
    , m_tell(std::move(tell))
{
}

ChannelWatch::~ChannelWatch() = default;

Result<void> ChannelWatch::start()
{
    DS_TRY(m_thread, startThread([this](const std::stop_token& stop) { run(stop); }));
    return {};
}

void ChannelWatch::run(const std::stop_token& stop)
{
    bool isLast = false;
    do {
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, stop, BetweenLooks, [] { return false; });
        isLast = stop.stop_requested();
        for (const std::string& line : m_turns.look(m_sender.channels()))
            m_tell(line);
    } while (!isLast);
}

} // namespace deltascope::cli
