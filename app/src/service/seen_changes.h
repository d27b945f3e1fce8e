#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/engine/operations.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace deltascope::app {

/// What the records say against a run as it is now.
struct SeenChanges {
    std::vector<Error> told; ///< of changedSinceSeen()
    /// What was rewritten on every way to a version, by its index: rebuilding it is refused until that is accepted. An
    /// object of the version itself is named before one in front of it; one of the external base has no step.
    std::map<std::size_t, Error> refused;
    /// Versions, by index, whose changes were counted in or against a state over rewritten objects: the records
    /// contradict these counts.
    std::set<std::size_t> miscounted;
    /// Versions, by index, a form of which was rewritten: where forms differ, the record tells which one is right.
    std::set<std::size_t> rewritten;
};

/// `told`: of changedSinceSeen(). Plans each version where one of them is Rewritten, as acts do: around it
/// where another form, as a mirror holds it, makes up for it.
SeenChanges seenChanges(const Workbench& bench, const Run& run, std::vector<Error> told);

/// Takes back the counts of a step that is miscounted.
void forgetCounts(StepView& step);

} // namespace deltascope::app
