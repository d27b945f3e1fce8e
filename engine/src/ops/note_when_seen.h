#pragma once

#include "deltascope/engine/operations.h"

#include <string>
#include <vector>

namespace deltascope {

/// Fills IndexedObjects::seenUs of versions that may still grow and carry a time that is still to come (the clock of
/// their machine is ahead). The catalog remembers it; without one, each call sees them for the first time. `source`: as
/// the catalog calls it.
void noteWhenSeen(Workbench& bench, const std::string& source, std::vector<IndexedObjects>& versions);

} // namespace deltascope
