#include "alerts/recent.h"
#include "alerts/rules.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/median.h"
#include "view/covered_time.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>

namespace deltascope::app {

namespace {

constexpr std::size_t NormalSteps = 5; ///< in a row, until all is well again

/// One number per step, ascending by step.
struct Trend {
    std::vector<const StepView*> steps;
    std::vector<double> values;

    void add(const StepView& step, double value)
    {
        steps.push_back(&step);
        values.push_back(value);
    }
    std::size_t size() const { return values.size(); }
    /// The values before one of them.
    std::vector<double> before(std::size_t at) const
    {
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(at);
        return { end - static_cast<std::ptrdiff_t>(std::min(at, TrendSteps)), end };
    }
    /// The newest among the last few that is out of the ordinary.
    template <class Odd> std::optional<std::size_t> lastOdd(Odd isOdd) const
    {
        for (std::size_t i = size(); i > 0 && i + NormalSteps > size(); --i) {
            if (isOdd(i - 1))
                return i - 1;
        }
        return std::nullopt;
    }
};

/// Whether a step is a delta that shows how a usual step of training is; a roll back is none.
bool isUsualDelta(const StepView& step) { return step.kind == "delta" && step.state == "complete" && !step.restores; }

Trend changedShares(const RunView& run)
{
    Trend trend;
    for (const StepView* step : recentSteps(run, 2 * TrendSteps)) {
        if (isUsualDelta(*step) && step->changedFraction)
            trend.add(*step, *step->changedFraction);
    }
    return trend;
}

/// Bytes of deltas against those of a full step; empty where nothing tells how large that is.
Trend deltaSizes(const RunView& run)
{
    Trend trend;
    const std::optional<std::uint64_t> full = fullStepBytes(run);
    if (full.value_or(0) == 0)
        return trend;
    for (const StepView* step : recentSteps(run, 2 * TrendSteps)) {
        if (isUsualDelta(*step))
            trend.add(*step, static_cast<double>(step->wireBytes) / static_cast<double>(*full));
    }
    return trend;
}

/// Who stood still longest for a step.
std::optional<std::string> slowestAt(const RunView& run, const StepView& step)
{
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> pauses;
    for (const SpanView& span : run.spans) {
        if (span.phase == "pause" && span.epoch == step.epoch && span.step == step.step)
            pauses[span.actor].emplace_back(span.t0Us, span.t1Us);
    }
    std::optional<std::string> slowest;
    std::int64_t longest = -1;
    for (const auto& [actor, intervals] : pauses) {
        if (const std::int64_t us = coveredUs(intervals); us > longest) {
            longest = us;
            slowest = actor;
        }
    }
    return slowest;
}

}

Findings densityShift(const RuleInput& input)
{
    constexpr std::size_t LeastSteps = 10;
    constexpr double LeastShift = 0.002;
    const Trend trend = changedShares(input.run);
    const auto deviations = [&](std::size_t at) -> std::optional<double> { // nothing where it is too small or unknown
        std::vector<double> before = trend.before(at);
        if (before.size() < LeastSteps)
            return std::nullopt;
        const double usual = medianOf(before).value();
        const double shift = std::abs(trend.values[at] - usual);
        for (double& value : before)
            value = std::abs(value - usual);
        const double spread = medianOf(std::move(before)).value();
        return shift > LeastShift && shift > input.threshold * spread ? std::optional(shift / spread) : std::nullopt;
    };
    const std::optional<std::size_t> odd = trend.lastOdd([&](std::size_t at) { return deviations(at).has_value(); });
    if (!odd)
        return {};
    Finding finding;
    finding.step = trend.steps[*odd]->step;
    finding.title = fmt::format("Unusual density at step {}", *finding.step);
    finding.text = fmt::format("Step {} has changed {} of the weights; usual are {}.", *finding.step,
                               percentText(trend.values[*odd]), percentText(medianOf(trend.before(*odd)).value()));
    if (const double value = *deviations(*odd); std::isfinite(value)) // not where all were the same before
        finding.value = value;
    return { finding };
}

Findings densityHigh(const RuleInput& input)
{
    constexpr double Normal = 0.8; // of the threshold
    const Trend trend = deltaSizes(input.run);
    if (trend.size() < NormalSteps)
        return {};
    const std::span<const double> last = std::span(trend.values).last(NormalSteps);
    const double limit = input.threshold / 100;
    const auto above = [&](double bound) {
        return std::count_if(last.begin(), last.end(), [bound](double value) { return value > bound; });
    };
    if (above(Normal * limit) == 0)
        return {};
    Finding finding;
    finding.title = "Deltas hardly pay";
    finding.text = fmt::format("Each of the last {} deltas has more than {} of the bytes of a full step ({}).",
                               NormalSteps, percentText(limit), bytesText(*fullStepBytes(input.run)));
    finding.value = 100 * last.back();
    finding.holds = above(limit) == std::ssize(last);
    return { finding };
}

Findings pauseLong(const RuleInput& input)
{
    constexpr std::size_t LeastSteps = 5;
    constexpr double LeastMs = 2000;
    Trend trend;
    for (const StepView* step : recentSteps(input.run, 2 * TrendSteps)) {
        if (step->pauseMs)
            trend.add(*step, *step->pauseMs);
    }
    const std::optional<std::size_t> odd = trend.lastOdd([&](std::size_t at) {
        std::vector<double> before = trend.before(at);
        return before.size() >= LeastSteps
            && trend.values[at] > std::max(LeastMs, input.threshold * medianOf(std::move(before)).value());
    });
    if (!odd)
        return {};
    const StepView& step = *trend.steps[*odd];
    const double usual = medianOf(trend.before(*odd)).value();
    Finding finding;
    finding.step = step.step;
    finding.replica = slowestAt(input.run, step);
    const std::string who = finding.replica ? shortName(*finding.replica) : "An engine";
    finding.title = fmt::format("{} paused {:.1f} s at step {}", who, *step.pauseMs / 1e3, step.step);
    finding.text = fmt::format("No tokens for {:.1f} s; usual are {:.2g} s.", *step.pauseMs / 1e3, usual / 1e3);
    if (usual > 0)
        finding.value = *step.pauseMs / usual;
    return { finding };
}

} // namespace deltascope::app
