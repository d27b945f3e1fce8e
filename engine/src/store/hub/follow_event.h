#pragma once

#include "sse_parser.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::hub {

/// One event of GET /api/buckets/{id}/events (huggingface_hub 2.4.0, _bucket_live_follow.py, parse_follow_event).
struct FollowEvent {
    enum class Kind : std::uint8_t {
        Ready, ///< what was missed has been told, now comes what happens
        Changes,
        Reset, ///< the place to go on from is too old
        Reconnect, ///< the server ends the stream
        Other, ///< unknown, or not what it should be: anything may have changed
    };
    Kind kind = Kind::Other;
    std::optional<std::string> cursor; ///< where to go on from; Changes have one
    std::vector<std::string> paths; ///< of Changes
};

FollowEvent parseFollowEvent(const ServerEvent& event);

/// Whether it tells of a change below `front` ("" or a prefix with its slash).
bool concerns(const FollowEvent& event, std::string_view front);

} // namespace deltascope::hub
