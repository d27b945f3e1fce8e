#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace deltascope {

/// When another publisher counts as gone although this machine cannot see its process: once its lease has not changed
/// for `life` by our own clock. Times that stand in its lease do not count.
struct LeaseTerms {
    std::chrono::milliseconds life = std::chrono::minutes(10); ///< a holder renews it 20 times in this time
    std::function<std::chrono::microseconds()> clock; ///< monotonic; empty: that of this machine
    /// Told once who is waited for, since when, and what can be done. Called by the thread that opens the publisher.
    std::function<void(const std::string& text)> onWaiting;
};

} // namespace deltascope
