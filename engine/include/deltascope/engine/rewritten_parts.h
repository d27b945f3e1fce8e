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

} // namespace deltascope
