#pragma once

#include "deltascope/engine/operations.h"

#include <utility>

namespace deltascope {

/// Replays the other forms of versions first..last against what else leads to them, but for a full form beside a
/// delta, which the replay of the deltas is compared with anyway. Fills in their facts; where one side has a digest or
/// root that its publisher recorded and the other has none, a difference is damage of the other. `again`: even those
/// that have facts. Returns the versions whose facts it filled in. Needs an assessed run, and leaves it to be assessed
/// again. Errors: Canceled, and those of the store that are worth a retry.
Result<std::vector<std::size_t>>
compareOtherForms(Workbench& bench, Run& run, std::pair<std::size_t, std::size_t> range, bool again, TaskContext& task);

} // namespace deltascope
