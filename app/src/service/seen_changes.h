#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
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
};

/// `told`: of changedSinceSeen(). Plans each version of a run with something that was rewritten, as acts do: around it
/// where another form, as a mirror holds it, makes up for it.
SeenChanges seenChanges(const Run& run, std::vector<Error> told);

/// Takes back the counts of a step that is miscounted.
void forgetCounts(StepView& step);

/// The ways of steps that lead around what was rewritten: the others are refused.
class WaysAround {
public:
    /// Both outlive it.
    WaysAround(const Run& run, const SeenChanges& changes);
    /// Shows those of the version at this place.
    void show(StepView& step, std::size_t at) const;

private:
    /// Why a form that can be read is refused; empty: it is not.
    std::string whyRefused(std::size_t at, std::size_t form) const;

    const Run& m_run;
    const SeenChanges& m_changes;
    Planner m_planner;
};

} // namespace deltascope::app
