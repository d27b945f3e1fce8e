#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Notes of the model that lies beside the checkpoints of a run (Version::besideSteps) which of them it equals
/// (Repeated), bit for bit. Compares it with the newest first, each time up to the first difference, as long as
/// `mostBytes` of states cover it; Workbench::records keep the answers. The run has to be assessed again. Errors:
/// Canceled, those of the store that are worth a retry.
Result<void> compareModelBeside(Workbench& bench, Run& run, std::uint64_t mostBytes, TaskContext& task);

} // namespace deltascope
