#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace deltascope {

/// When another publisher counts as gone, of whom this machine cannot say whether it runs: its lease has not changed
/// for `life`, as watched by us. What its lease says of times is not looked at.
struct LeaseTerms {
    std::chrono::milliseconds life = std::chrono::minutes(10); ///< a holder renews it 20 times in this time
    std::function<std::chrono::microseconds()> clock; ///< monotonic; empty: that of this machine
    /// Told once who is waited for, since when, and what can be done. Called by the thread that opens the publisher.
    std::function<void(const std::string& text)> onWaiting;
};

} // namespace deltascope
