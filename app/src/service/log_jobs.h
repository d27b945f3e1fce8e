#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Replays what has no facts yet (Depth::Replayed), and tells what each step changed in the tensors that are meant, or,
/// of plain checkpoints, in those of the one before. All of the log but LogView::run. Errors: NotFound (a glob fits no
/// tensor of the newest state), those of analyzeRun().
Result<LogView> changesOf(Workbench& bench, Run& run, const LogRequest& request, TaskContext& task);

/// Tells the steps of a run of plain checkpoints what was found. Behind the assignment of LogView::run.
void addChanges(LogView& view);

} // namespace deltascope::app
