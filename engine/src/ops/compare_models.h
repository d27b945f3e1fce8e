#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Compares each complete anchor with the complete state before it in its epoch (the first with the external base, if
/// there is one), where their names, types and shapes are not the same. A tensor of another type or shape makes the
/// anchor unusable: no training changes them, and a delta that is read as a full version looks like that. A tensor that
/// the anchor before has and this one lacks becomes a note (MissingTensor). Reads headers. Errors: Canceled, those of
/// the store. What stands alone is compared by compareCheckpoints().
Result<void> compareModels(const Workbench& bench, Run& run, TaskContext& task);

} // namespace deltascope
