#pragma once

#include "deltascope/app/alert_channel.h"

#include <cstdint>
#include <string>

namespace deltascope::app {

/// The body of a message about an alert, in the form that the channel takes: JSON of ours (docs/alerts.md), Block Kit,
/// or an embed. Foreign names in it neither mention nor format anything. `pageUrl`: of the run; may be empty.
std::string messageBody(ChannelKind kind, const AlertView& alert, const std::string& pageUrl, std::int64_t nowUs);

/// What a test of a channel says.
AlertView testAlert(std::int64_t nowUs);

/// HMAC-SHA256 in lower-case hex.
std::string signatureOf(const std::string& body, const std::string& secret);

} // namespace deltascope::app
