#pragma once

#include "publish/published_names.h"
#include "publish/run_end.h"

namespace deltascope {

/// What publishing a step behind the end of the run `into` would do; null: its folder is not there yet. `onlyFind`: it
/// may be there already, and nothing can be put (the external base of the run is not known). Opens the state behind it
/// only where its size matters; leaves PublishPlan::stateBytes open. Errors: those of opening it.
Result<PublishPlan> planStep(const RunEnd& end, const WriterChoice& writers, const PublishOptions& options,
                             const ObjectStore* into, const StepToPublish& step, bool onlyFind, TaskContext& task);

/// Errors: Unsupported: the step would be the first one, on an external base that is `from` itself, whose names stay as
/// they are on disk.
Result<void> expectNamesOfBase(const RunEnd& end, const WriterChoice& writers, const PublishedStep& step);

} // namespace deltascope
