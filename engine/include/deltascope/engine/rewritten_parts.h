#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

#include <map>
#include <optional>

namespace deltascope {

/// What was rewritten since it was first seen: plans with such a link, or on such a base, are refused until that is
/// accepted.
struct RewrittenParts {
    std::map<PlanLink, Error> links; ///< the first object of each, with its step
    std::optional<Error> base; ///< without a step
};

/// Of all versions of a run and of its external base, by the records; reads nothing of the objects.
RewrittenParts rewrittenSinceSeen(const Workbench& bench, const Run& run);

/// Fills in Version::rewrittenForms and Run::baseRewritten. Assesses the run if that changes something.
void noteRewritten(const Workbench& bench, Run& run);

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
