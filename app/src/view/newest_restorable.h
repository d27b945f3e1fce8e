#pragma once

#include "deltascope/app/view/run_view.h"

#include <algorithm>

namespace deltascope::app {

/// What the word "latest" means in an address: the newest step of the newest run that can be rebuilt, be it that its
/// objects were rewritten. Null: none can.
inline const StepView* newestRestorable(const RunView& run)
{
    if (run.epochs.empty())
        return nullptr;
    const std::vector<StepView>& steps = run.epochs.back().steps;
    const auto found = std::find_if(steps.rbegin(), steps.rend(), [](const StepView& step) { return step.restorable; });
    return found == steps.rend() ? nullptr : &*found;
}

} // namespace deltascope::app
