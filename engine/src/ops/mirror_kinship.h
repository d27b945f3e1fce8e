#pragma once

#include "deltascope/engine/layout.h"
#include "deltascope/engine/object_store.h"

#include <optional>
#include <vector>

namespace deltascope {

/// Takes what is of another run out of what a mirror holds: where the last version that both have has other bytes
/// there, everything behind the last one with equal bytes. A sample of the largest object of a version is read on both
/// sides; a cut object and a few changed bytes are damage, and no other run. A single version at the end of both that
/// differs is left for those who compare copies. `versions`: of the source, without those of mirrors. `held`: of the
/// mirror, as Layout::group() finds them; both ascend by step. Returns what is worth telling. Errors: those of the
/// stores but what speaks of one object.
Result<std::optional<Error>> leaveOutOtherRun(const ObjectStore& source, const std::vector<VersionObjects>& versions,
                                              const ObjectStore& mirror, std::vector<VersionObjects>& held,
                                              TaskContext& task);

} // namespace deltascope
