#include "deltascope/app/view/verified_view.h"

#include <algorithm>

namespace deltascope::app {

std::optional<VerifiedView> verifiedOf(const VerifiedSteps& verified, const StepView& step)
{
    const auto known = verified.find({ step.epoch, step.step });
    return known == verified.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::size_t> soundnessOf(const VerifiedView& verified)
{
    const auto found = std::find(SoundResults.begin(), SoundResults.end(), verified.result);
    return found == SoundResults.end() ? std::nullopt
                                       : std::optional(static_cast<std::size_t>(found - SoundResults.begin()));
}

std::vector<const StepView*> newestSteps(const RunView& run)
{
    std::vector<const StepView*> steps;
    if (run.epochs.empty())
        return steps;
    for (const StepView& step : run.epochs.back().steps) {
        if (step.state != "gap")
            steps.push_back(&step);
    }
    return steps;
}

} // namespace deltascope::app
