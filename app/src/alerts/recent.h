#pragma once

#include "deltascope/app/view/run_view.h"

#include <span>
#include <string>
#include <vector>

namespace deltascope::app {

// What several rules need.

inline constexpr std::int64_t SecondUs = 1'000'000;
inline constexpr std::size_t TrendSteps = 50; ///< that a median is taken of

/// The last versions of the newest epoch, ascending, without holes; at most `most`.
std::vector<const StepView*> recentSteps(const RunView& run, std::size_t most);
/// The newest epoch from its last sound anchor on (from its begin if it has none), with holes.
std::span<const StepView> sinceLastAnchor(const RunView& run);
/// The newest spans.
std::span<const SpanView> recentSpans(const RunView& run);
/// A foreign name that fits into a title.
std::string shortName(const std::string& name);
/// A share as people read it: "0.34 %".
std::string percentText(double fraction);
/// "45 s", "12 min", "3 h"
std::string durationText(std::int64_t us);

} // namespace deltascope::app
