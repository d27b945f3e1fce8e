#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Reports the complete states that take back what deltas had changed (VersionFacts::revertedTensors).
void assessReverted(Run& run);

} // namespace deltascope
