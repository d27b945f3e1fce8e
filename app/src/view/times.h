#pragma once

#include <cstdint>

namespace deltascope::app {

// Microseconds since 1970. Times beyond these are no times, and sums of them would overflow.

inline constexpr std::int64_t LastUs = 4'102'444'800'000'000; ///< the year 2100
inline constexpr std::int64_t LongestUs = 30 * 86'400'000'000; ///< of a span: a month
/// Of an object, whose time is what some store says: differences of two have room.
inline constexpr std::int64_t FarthestUs = INT64_MAX / 2;

} // namespace deltascope::app
