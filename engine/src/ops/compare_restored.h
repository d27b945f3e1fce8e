#pragma once

#include "deltascope/engine/operations.h"

#include <cstddef>
#include <map>

namespace deltascope {

/// By index in Run::versions: whether a version has the state that it says it restores.
using RestoredStates = std::map<std::size_t, bool>;

/// Rebuilds a version, and the one that it says it restores, as far as they record no root of their state, and compares
/// the two. Nothing where there is nothing to compare, where recorded roots tell, or where one of the two cannot be
/// rebuilt. Errors: Canceled, those of the store.
Result<std::optional<bool>> compareRestored(Workbench& bench, const Run& run, std::size_t version, TaskContext& task);

} // namespace deltascope
