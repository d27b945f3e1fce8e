#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace deltascope::app {

/// How long at least one interval lasts, each from its first to its last instant; overlaps count once.
inline std::int64_t coveredUs(std::vector<std::pair<std::int64_t, std::int64_t>> intervals)
{
    std::sort(intervals.begin(), intervals.end());
    std::int64_t covered = 0;
    std::int64_t end = INT64_MIN;
    for (const auto& [first, last] : intervals) {
        covered += std::max<std::int64_t>(0, last - std::max(first, end));
        end = std::max(end, last);
    }
    return covered;
}

} // namespace deltascope::app
