#include "deltascope/app/view/run_view.h"

#include <algorithm>

namespace deltascope::app {

std::optional<std::uint64_t> fullStepBytes(const RunView& run)
{
    if (run.epochs.empty())
        return std::nullopt;
    const std::vector<StepView>& steps = run.epochs.back().steps;
    const auto anchor = std::find_if(steps.rbegin(), steps.rend(), [](const StepView& step) {
        return step.kind == "anchor" && (step.state == "complete" || step.state == "noop");
    });
    return anchor == steps.rend() ? run.baseBytes : std::optional(anchor->wireBytes);
}

} // namespace deltascope::app
