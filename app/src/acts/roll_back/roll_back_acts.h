#pragma once

#include "acts/act.h"

namespace deltascope::app {

/// Publishes the state of an earlier step again, behind the newest one.
Act rollBackAct();
/// Takes the roll back that the newest step is back.
Act undoAct();

} // namespace deltascope::app
