#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Reads objects and compares them with what vouches for them.
Act verifyAct();

} // namespace deltascope::app
