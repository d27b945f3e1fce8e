#pragma once

#include "deltascope/app/monitor.h"

#include <string>

namespace deltascope::app {

/// `{"kind", "args"}`, as POST /runs/{r}/plans takes it.
std::string toJson(const PlanRequest& request);

} // namespace deltascope::app
