#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Reports the complete states that take back what deltas had changed (VersionFacts::revertedTensors) and do not say
/// so.
void assessReverted(Run& run);

} // namespace deltascope
