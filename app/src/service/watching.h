#pragma once

#include "state_tensors.h"

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

#include <atomic>
#include <functional>
#include <memory>

namespace deltascope::app {

using TellRun = std::function<void(std::shared_ptr<const RunView> run, std::shared_ptr<const HeatView> heat)>;

/// Follows a source until it is canceled or cannot be read any more; calls `tell` first and after every change.
/// `tensors`: what the service knows of states. `revision`: counter of all views. Errors: Canceled, those of opening
/// the source.
Result<void> watchRun(Workbench& bench, const SourceRequest& request, Depth depth, const WatchPeriods& periods,
                      StateTensors& tensors, std::atomic<std::uint64_t>& revision, const TellRun& tell,
                      TaskContext& task);

} // namespace deltascope::app
