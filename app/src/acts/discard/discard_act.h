#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Removes what stopped materializations left beside their destinations.
Act discardAct();

} // namespace deltascope::app
