#pragma once

#include <cstdint>
#include <string>

namespace deltascope::app {

/// What became of a message.
enum class Delivery : std::uint8_t {
    Delivered,
    Refused, ///< the same message will be refused again
    Failed, ///< it may work later
};

/// One try to hand over a message.
struct DeliveryTry {
    Delivery outcome = Delivery::Delivered;
    std::string failure; ///< why it did not arrive; holds no secret of the channel
};

} // namespace deltascope::app
