#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// The values of a tensor at a step, and how far they moved from another one.
Result<StatisticsView> statisticsOf(Workbench& bench, const TensorRequest& request, TaskContext& task);
/// The values of a tensor at the last `steps` steps of an epoch up to the one that is named.
Result<StatisticsHistoryView> statisticsHistoryOf(Workbench& bench, const TensorRequest& request, std::uint32_t steps,
                                                  TaskContext& task);
/// What statisticsOf() would read (no steps), tensorFirstsOf() at most (Service::AllSteps), or statisticsHistoryOf().
Result<StatisticsCostView> statisticsCostOf(Workbench& bench, const TensorRequest& request, std::uint32_t steps,
                                            TaskContext& task);

} // namespace deltascope::app
