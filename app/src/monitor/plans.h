#pragma once

#include "deltascope/app/monitor.h"

#include <functional>

namespace deltascope::app {

/// A plan with what starts it.
struct BoundPlan {
    PlanView view; ///< without an id
    PlanRequest request; ///< what was asked for
    std::function<JobId(Service&)> start;
};

/// What an act on a run would do, from what is known of the run. `source`: how the run is read. Errors: NotFound (no
/// such step), Usage, Transient (not opened yet), ChainGap and others for a step that cannot be rebuilt.
Result<BoundPlan> makePlan(const RunSnapshot& snapshot, const SourceRequest& source, const PlanRequest& request,
                           const MonitorOptions& options);

} // namespace deltascope::app
