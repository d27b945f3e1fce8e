#pragma once

#include <cstdint>

namespace deltascope::app {

/// What became of a message.
enum class Delivery : std::uint8_t {
    Delivered,
    Refused, ///< the same message will be refused again
    Failed, ///< it may work later
};

} // namespace deltascope::app
