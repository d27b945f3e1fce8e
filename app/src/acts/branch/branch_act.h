#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Begins a new run with the state of a step, in another place.
Act branchAct();

} // namespace deltascope::app
