#pragma once

#include "deltascope/app/view/alert_view.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::app {

enum class ChannelKind : std::uint8_t { Webhook, Slack, Discord };

/// Where messages about alerts go.
struct Channel {
    ChannelKind kind = ChannelKind::Webhook;
    AlertLevel minLevel = AlertLevel::Info;
    std::string url; ///< a secret: whoever knows it can write there
    std::string secret; ///< of a webhook: key of the signature; empty: messages are not signed
    std::string name; ///< scheme and host of the URL, for people
};

/// Reads a file with one channel per line: `LEVEL URL [kind=webhook|slack|discord] [secret=KEY]`; lines that begin with
/// # and empty ones are passed over. The kind is known by the host if none is given. Errors: Io, Usage; they name the
/// line and never quote it.
Result<std::vector<Channel>> readChannels(const std::string& path);

AlertChannelView channelView(const Channel& channel);

} // namespace deltascope::app
