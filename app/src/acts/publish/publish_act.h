#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Publishes the step between two states behind the newest one of a run.
Act publishAct();

} // namespace deltascope::app
