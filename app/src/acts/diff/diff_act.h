#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Compares two steps bit by bit.
Act diffAct();

} // namespace deltascope::app
