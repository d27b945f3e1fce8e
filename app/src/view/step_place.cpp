#include "step_place.h"

#include <algorithm>

namespace deltascope::app {

StepPlace placeOf(const RunView& run, std::int64_t step)
{
    bool isGone = std::any_of(run.events.begin(), run.events.end(),
                              [step](const ProblemView& event) { return event.step == step; });
    for (const EpochView& epoch : run.epochs) {
        if (epoch.steps.empty())
            continue;
        isGone = isGone || step < epoch.steps.front().step;
        const auto at =
            std::upper_bound(epoch.steps.begin(), epoch.steps.end(), step,
                             [](std::int64_t wanted, const StepView& known) { return wanted < known.step; });
        if (at == epoch.steps.begin())
            continue;
        const StepView& known = *std::prev(at);
        if (known.step == step || (known.state == "gap" && step <= known.lastMissing))
            return StepPlace::Inside;
    }
    return isGone ? StepPlace::Gone : StepPlace::Foreign;
}

} // namespace deltascope::app
