#pragma once

#include "audit/replay_audit.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/path_state.h"

#include <cstddef>
#include <optional>

namespace deltascope {

/// Whether a link is replayed on an object in front of it that was rewritten since it was first seen. What fails at
/// such a link may be the fault of that object, and is no fact about its own.
bool standsOnRewritten(const PathState& path, std::size_t link);

/// To decide about what is there now, whatever is on record: reads are held against nothing, and what they show is not
/// kept.
Workbench withoutRecords(const Workbench& bench);

/// The first link whose objects were rewritten, as reading the path has shown; behind the end: none.
std::size_t firstRewritten(const PathState& path);

/// The first link that stands on a rewritten object and is not what its publisher recorded. `audit`: of the path, after
/// finishStates().
std::optional<std::size_t> failureOnRewritten(const PathState& path, const ReplayAudit& audit);

} // namespace deltascope
