#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Reports where a trainer has started again, and what of its earlier run is left.
void reportForks(Run& run);

} // namespace deltascope
