#include "alerts/recent.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

std::vector<const StepView*> recentSteps(const RunView& run, std::size_t most)
{
    std::vector<const StepView*> steps;
    if (run.epochs.empty())
        return steps;
    const std::vector<StepView>& all = run.epochs.back().steps;
    for (auto step = all.rbegin(); step != all.rend() && steps.size() < most; ++step) {
        if (step->state != "gap")
            steps.push_back(&*step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

std::span<const StepView> sinceLastAnchor(const RunView& run)
{
    if (run.epochs.empty())
        return {};
    const std::vector<StepView>& steps = run.epochs.back().steps;
    const auto anchor = std::find_if(steps.rbegin(), steps.rend(),
                                     [](const StepView& step) { return step.kind == "anchor" && step.restorable; });
    return std::span(steps).subspan(anchor == steps.rend() ? 0 : static_cast<std::size_t>(steps.rend() - anchor) - 1);
}

std::span<const SpanView> recentSpans(const RunView& run)
{
    constexpr std::size_t Most = 1'000;
    const std::span<const SpanView> spans(run.spans);
    return spans.last(std::min(spans.size(), Most));
}

std::string shortName(const std::string& name)
{
    constexpr std::size_t Most = 24; // bytes
    if (name.size() <= Most)
        return name;
    std::size_t end = Most;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) // not inside of a character
        --end;
    return name.substr(0, end) + "…";
}

std::string percentText(double fraction)
{
    const double percent = 100 * fraction;
    return percent >= 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.2g} %", percent);
}

std::string durationText(std::int64_t us)
{
    const std::int64_t seconds = us / SecondUs;
    if (seconds < 120)
        return fmt::format("{} s", seconds);
    if (seconds < 7200)
        return fmt::format("{} min", seconds / 60);
    return fmt::format("{} h", seconds / 3600);
}

} // namespace deltascope::app
