#include "pages/timeline/step_window.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr std::ptrdiff_t LeastVersions = 5;

using Steps = std::vector<app::StepView>;

/// First place whose step is not below `step`.
std::ptrdiff_t placeOf(const Steps& steps, std::int64_t step)
{
    return std::lower_bound(steps.begin(), steps.end(), step,
                            [](const app::StepView& view, std::int64_t number) { return view.step < number; })
        - steps.begin();
}

/// One past the last place whose step is not above `step`.
std::ptrdiff_t endOf(const Steps& steps, std::int64_t step)
{
    return std::upper_bound(steps.begin(), steps.end(), step,
                            [](std::int64_t number, const app::StepView& view) { return number < view.step; })
        - steps.begin();
}

StepRange rangeOf(const Steps& steps, std::ptrdiff_t first, std::ptrdiff_t count)
{
    const std::ptrdiff_t all = std::ssize(steps);
    count = std::clamp<std::ptrdiff_t>(count, 1, all);
    first = std::clamp<std::ptrdiff_t>(first, 0, all - count);
    const app::StepView& last = steps[static_cast<std::size_t>(first + count - 1)];
    return { steps[static_cast<std::size_t>(first)].step, std::max(last.step, last.lastMissing) };
}

}

std::optional<StepRange> windowAround(const app::EpochView& epoch, std::int64_t step, std::size_t count)
{
    if (epoch.steps.empty())
        return std::nullopt;
    const auto wanted = static_cast<std::ptrdiff_t>(count);
    const std::ptrdiff_t end = std::min(endOf(epoch.steps, step) + wanted / 2, std::ssize(epoch.steps));
    return rangeOf(epoch.steps, end - wanted, wanted);
}

StepRange zoomedWindow(const app::EpochView& epoch, const StepRange& window, double place, double factor)
{
    const std::ptrdiff_t first = placeOf(epoch.steps, window.first);
    const std::ptrdiff_t now = endOf(epoch.steps, window.second) - first;
    if (now <= 0 || epoch.steps.empty())
        return window;
    auto count = static_cast<std::ptrdiff_t>(std::llround(static_cast<double>(now) / factor));
    if (count == now)
        count += factor > 1 ? -1 : 1;
    count = std::clamp(count, std::min(LeastVersions, std::ssize(epoch.steps)), std::ssize(epoch.steps));
    const double fixed = static_cast<double>(first) + place * static_cast<double>(now);
    return rangeOf(epoch.steps, std::llround(fixed - place * static_cast<double>(count)), count);
}

StepRange pannedWindow(const app::EpochView& epoch, const StepRange& window, std::ptrdiff_t versions)
{
    const std::ptrdiff_t first = placeOf(epoch.steps, window.first);
    const std::ptrdiff_t now = endOf(epoch.steps, window.second) - first;
    return now <= 0 || epoch.steps.empty() ? window : rangeOf(epoch.steps, first + versions, now);
}

std::size_t versionsIn(const app::EpochView& epoch, const StepRange& window)
{
    const auto first = epoch.steps.begin() + placeOf(epoch.steps, window.first);
    const auto end = epoch.steps.begin() + endOf(epoch.steps, window.second);
    if (first >= end)
        return 0;
    return static_cast<std::size_t>(std::count_if(first, end, [](const app::StepView& s) { return s.state != "gap"; }));
}

} // namespace deltascope::desktop
