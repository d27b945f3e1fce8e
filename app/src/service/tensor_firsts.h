#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Since when a tensor changed and since when it holds NaN, from the begin of the epoch of a step up to that step. The
/// view says what cannot be read; that is no error. Errors: NotFound (the step has no such tensor), those of planPair.
Result<TensorFirstsView> tensorFirstsOf(Workbench& bench, const TensorRequest& request, TaskContext& task);

} // namespace deltascope::app
