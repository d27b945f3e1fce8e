#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

namespace deltascope {

// The plans of acts that only read a run: every object that is going to be read, with its identity. Only names and
// headers are looked at for them.

/// What verifyRun() reads, by the level of `options`. What the range builds on is not read again where the records know
/// it as it is. A range that is left open is all that the run has now.
ActPlan planVerify(const Run& run, const VerifyOptions& options);

/// A state of an open run that an act reads.
struct PlannedState {
    const Run& run;
    const Version& version;
    const Plan& plan; ///< the first that is tried
};

/// What comparing two states of one source reads.
ActPlan planDiff(const PlannedState& a, const PlannedState& b, bool acceptRewritten);

/// What materialize() reads and writes; of a rebuild that several processes share all parts. `state`: the one that the
/// plan leads to. Errors: those of listing the trainer's files.
Result<ActPlan> planMaterialize(const PlannedState& from, StateChoice state, const MaterializeOptions& options,
                                TaskContext& task);

} // namespace deltascope
