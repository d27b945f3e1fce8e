#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/timeline_view.h"

namespace deltascope::app {

/// The syncs of the steps from `from` to `to`, both included, of one epoch. Pure.
TimelineView makeTimelineView(const RunView& run, int epoch, std::int64_t from, std::int64_t to);

} // namespace deltascope::app
