#pragma once

#include "deltascope/engine/catalog.h"
#include "deltascope/engine/layout.h"

#include <string>
#include <vector>

namespace deltascope {

/// Adds what a mirror holds to the versions of a source, which ascend by step: as another form of a version whose
/// objects have the same keys and sizes there, and as a version of its own where the source has none of that name. An
/// object whose size in the source is another one belongs to it only where the size on record is the mirror's. Forms
/// that the mirror holds in part are left out. `held`: the versions of the mirror, as Layout::group() finds them.
/// Returns what is worth telling. Errors: those of the records but Catalog.
Result<std::vector<Error>> addMirrored(std::vector<VersionObjects>& versions, const std::string& address,
                                       std::vector<VersionObjects> held, Records* records, const std::string& source);

} // namespace deltascope
