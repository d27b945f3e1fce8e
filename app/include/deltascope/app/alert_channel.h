#pragma once

#include "deltascope/app/view/alert_view.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

enum class ChannelKind : std::uint8_t { Webhook, Slack, Discord, Command };

/// Where messages about alerts go.
struct AlertChannel {
    ChannelKind kind = ChannelKind::Webhook;
    AlertLevel minLevel = AlertLevel::Info;
    std::string address; ///< a URL, which is a secret: whoever knows it can write there; or the path of a program
    std::string secret; ///< of a webhook: key of the signature; empty: messages are not signed
    std::string name; ///< scheme and host of the URL, or the program, for people
};

/// Reads `LEVEL ADDRESS [kind=webhook|slack|discord] [secret=KEY]`. The address is an http or https URL, or the
/// absolute path of a program; neither has spaces. The kind is known by the address if none is given. Errors: Usage;
/// they never quote the line.
Result<AlertChannel> parseChannel(const std::string& line);
/// The line that parseChannel() reads as this channel.
std::string lineOf(const AlertChannel& channel);

/// Reads a regular file with one channel per line; lines that begin with # and empty ones are passed over. Errors:
/// NotFound, Io, Usage; they name the line and never quote it.
Result<std::vector<AlertChannel>> readChannels(const std::string& path);
/// Writes such a file for its owner alone, whole or not at all. Errors: NoSpace, Auth, NotFound, Io.
Result<void> writeChannels(const std::string& path, const std::vector<AlertChannel>& channels);

/// Why a channel cannot take a message as things are now: its program cannot be executed. Nothing: no reason is known.
std::optional<std::string> whyItCannotSend(const AlertChannel& channel);

/// Without what became of messages.
AlertChannelView channelView(const AlertChannel& channel);

} // namespace deltascope::app
