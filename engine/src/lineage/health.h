#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Says of each version with suspect tensors which and why, and of what builds on it that it does. Once every version
/// was assessed.
void assessHealth(Run& run);

} // namespace deltascope
