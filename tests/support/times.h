#pragma once

#include <cstdint>

namespace deltascope::test {

// Microseconds, as the product counts time.
inline constexpr std::int64_t Second = 1'000'000;
inline constexpr std::int64_t Minute = 60 * Second;
inline constexpr std::int64_t Hour = 60 * Minute;

inline constexpr std::int64_t Begin = 1'787'315'000 * Second; ///< of runs that are made up: 2026-08-21T12:23:20Z
inline constexpr std::int64_t LongAfter = 4'000'000'000 * Second; ///< everything was published

} // namespace deltascope::test
