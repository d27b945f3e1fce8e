#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Adds the facts that the catalog knows of a run as it is linked now, and assesses it again.
void addKnownFacts(Workbench& bench, Run& run);

} // namespace deltascope
