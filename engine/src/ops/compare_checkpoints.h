#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Notes of each checkpoint that stands alone by which names, types and shapes it differs from the one before it, and
/// which of its tensors lost all elements. Reads headers where the names differ. Returns whether anything was noted.
/// Errors: Canceled, those of the store that are worth a retry.
Result<bool> compareCheckpoints(const Workbench& bench, Run& run, TaskContext& task);

} // namespace deltascope
