#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Rebuilds a step as a checkpoint in a new folder.
Act materializeAct();

} // namespace deltascope::app
