#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Decides what the loss of each version in Run::gone means (GoneVersion::Loss), from how the versions are linked. In
/// layouts whose versions stand alone nothing is ever needed.
void weighGone(Run& run);

/// Adds the problems of Run::gone to the run: one for the newest versions, one for each version that misses some, and
/// one for all that nothing needs.
void reportGone(Run& run);

/// Whether the version that a missing number stood for was here, and something needs it.
bool isGone(const Run& run, int epoch, std::int64_t step);

} // namespace deltascope
