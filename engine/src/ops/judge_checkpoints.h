#pragma once

#include "deltascope/engine/operations.h"

#include <string>
#include <vector>

namespace deltascope {

/// Judges the values of versions that stand alone beside those of the one before, and fills in facts of those that have
/// none; nothing for other layouts. What cannot be read stays as it is. `keys`: as chainKeys(). Errors: Canceled, those
/// of the store that are worth a retry.
Result<void> judgeCheckpoints(Workbench& bench, Run& run, const AnalyzeOptions& options,
                              const std::vector<std::string>& keys, TaskContext& task);

} // namespace deltascope
