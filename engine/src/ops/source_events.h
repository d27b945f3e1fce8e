#pragma once

#include "deltascope/engine/operations.h"

#include <vector>

namespace deltascope {

/// Keeps what happened to a source in the records, as events of it. Where it cannot be written, the work goes on;
/// doctor reports that.
void keepEvents(Workbench& bench, const ObjectStore& store, const std::vector<Error>& happened);

/// Keeps a notice that repeats at every look once, as long as it is among the last events.
void keepEventsOnce(Workbench& bench, const ObjectStore& store, std::vector<Error> told);

} // namespace deltascope
