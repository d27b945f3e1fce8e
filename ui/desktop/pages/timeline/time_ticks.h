#pragma once

#include "pages/timeline/timeline_model.h"

namespace deltascope::desktop {

// Labels of a wall clock, in local time. Pure but for the time zone; any thread.

/// A round distance of at least `leastUs`: 1, 2, 5, 10, 15, 30 of a unit.
std::int64_t timeTickUs(double leastUs);
/// Multiples of `everyUs` since local midnight within a window; at most 1,000.
std::vector<std::int64_t> timeTicks(const TimeWindow& window, std::int64_t everyUs);
/// Time of day with as many digits as neighbors differ in.
QString timeTickText(std::int64_t us, std::int64_t everyUs);

} // namespace deltascope::desktop
