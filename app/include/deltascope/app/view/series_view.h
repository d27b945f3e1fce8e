#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/timeline_view.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope::app {

/// One line of a chart: per pixel bucket that has a value the first, lowest, highest and last one, so that no spike is
/// lost however many steps share a pixel.
struct SeriesColumns {
    std::vector<std::int64_t> x; ///< step of the last value in the bucket
    std::vector<double> first, min, max, last;
};

struct SeriesView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::uint64_t points = 0; ///< steps in the range
    std::map<std::string, SeriesColumns> series; ///< by name; a name nobody knows is left out
    std::vector<std::int64_t> anchors; ///< steps in the range
};

/// Names of series: changed_frac changed_elems wire_bytes pause_ms interval_s sync_ms drift_elems.
const std::vector<std::string_view>& seriesNames();

/// What the columns of a series are made from; ascending steps. `pixels` buckets over [from, to]; 0: every value.
SeriesColumns makeColumns(const std::vector<std::pair<std::int64_t, double>>& values, std::int64_t from,
                          std::int64_t to, std::uint32_t pixels);

struct SeriesRange {
    int epoch = 0;
    std::int64_t from = INT64_MIN;
    std::int64_t to = INT64_MAX;
    std::uint32_t pixels = 1200; ///< 0: every value
};

/// `timeline`: of the same epoch. Values that are missing stay missing. Anchors have no changed_frac unless they were
/// compared with the replay before them, and no wire_bytes: these are of deltas.
SeriesView makeSeries(const RunView& run, const TimelineView& timeline, const std::vector<std::string>& names,
                      const SeriesRange& range);

} // namespace deltascope::app
