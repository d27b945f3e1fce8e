#pragma once

#include "publish/run_end.h"

namespace deltascope {

/// What publishing a step behind the end of the run `into` would do; null: its folder is not there yet. `onlyFind`: it
/// may be there already, and nothing can be put (the external base of the run is not known). Opens the state behind it
/// only where its size matters; leaves PublishPlan::stateBytes open. Errors: those of opening it.
Result<PublishPlan> planStep(const RunEnd& end, const WriterChoice& writers, const PublishOptions& options,
                             const ObjectStore* into, const StepToPublish& step, bool onlyFind, TaskContext& task);

} // namespace deltascope
