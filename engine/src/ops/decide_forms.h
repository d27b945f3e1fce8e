#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

namespace deltascope {

/// Decides between a delta and the complete form beside it, which lead to two states: what stands behind the step is
/// replayed on both. Where it has its publisher's digests on one of them alone, the other one is noted as damage. Where
/// a step exists twice (lineage/twice.h), the no-op test and the next complete state decide as well, and how far the
/// complete form is from what stands in front of it.
/// `front`: what leads to the step, with the delta and the complete form as its last links. `behind`: begins with the
/// complete form. Where a complete form loses, the versions of `behind` lose their facts. Returns whether it is
/// decided. Errors: Canceled, and those of the store that are worth a retry.
Result<bool> decideForms(Workbench& bench, Run& run, const Plan& front, const Plan& behind, TaskContext& task);

} // namespace deltascope
