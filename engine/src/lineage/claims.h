#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// Reports the versions that lack a digest which those before and behind them have (docs/formats/dsm1.md, section 9).
void assessAbsentDigests(Run& run);

/// Whether a delta says that it changes nothing. Then it may have the same bytes in every run.
bool changesNothing(const Version& version);

/// Whether a version says that it changes nothing, none is behind it, and no digest of its publisher covers that.
bool isUnvouchedEmpty(const Run& run, std::size_t version);

/// Reports such a version. Nothing speaks against it until one behind it does.
void assessEmptyNewest(Run& run);

} // namespace deltascope
