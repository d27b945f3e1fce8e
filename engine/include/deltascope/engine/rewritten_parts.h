#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

#include <optional>

namespace deltascope {

/// Fills in Version::rewrittenForms and Run::baseRewritten, by the records; reads nothing of the objects. Assesses the
/// run if that changes something. openRun(), analyzeRun() and verifyRun() do it.
void noteRewritten(const Workbench& bench, Run& run);

/// Whether an object of a run or its base was rewritten.
bool anyRewritten(const Run& run);

/// What says that an object of a plan was rewritten: of its last such link, else of the base; null: none was. Plans
/// with such an object are refused until that is accepted.
const Error* rewrittenOn(const Run& run, const Plan& plan);

/// Plans that use no form that was rewritten.
PlanOptions aroundRewritten(const Run& run);

/// Plans around forms that were rewritten since they were first seen (Version::rewrittenForms). Where no way leads
/// around them, the plan leads over them, and reading it reports them.
class PlannerAround {
public:
    /// The run outlives it and does not change meanwhile. `acceptRewritten`: they are used like others.
    explicit PlannerAround(const Run& run, bool acceptRewritten = false);
    /// Errors: as Planner::planFor().
    Result<Plan> planFor(const Version& version) const;

private:
    Planner m_any;
    std::optional<Planner> m_around; ///< nothing: there is nothing to lead around
};

} // namespace deltascope
