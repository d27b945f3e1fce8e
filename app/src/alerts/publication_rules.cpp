#include "alerts/recent.h"
#include "alerts/rules.h"

#include "deltascope/base/median.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace deltascope::app {

namespace {

constexpr std::int64_t DayUs = 86'400 * SecondUs;

/// How far the clock of `subject` is off.
Finding skewOf(std::string subject, double seconds, double threshold)
{
    Finding finding;
    finding.level = AlertLevel::Info;
    finding.title = "Clocks are apart: " + shortName(subject);
    finding.text = fmt::format("The clock of {} is more than {:g} s off.", subject, threshold);
    finding.subject = std::move(subject);
    finding.value = seconds;
    finding.holds = seconds > threshold;
    return finding;
}

/// The usual time from one of these steps to the next, in microseconds. Nothing: there are too few of them, or their
/// times are those of a copy, which tell nothing.
std::optional<double> usualInterval(const std::vector<const StepView*>& steps)
{
    constexpr std::size_t LeastSteps = 4;
    if (steps.size() < LeastSteps)
        return std::nullopt;
    std::vector<double> intervals;
    for (std::size_t i = 1; i < steps.size(); ++i)
        intervals.push_back(static_cast<double>(steps[i]->publishedUs - steps[i - 1]->publishedUs));
    const double usual = medianOf(std::move(intervals)).value();
    return usual < SecondUs ? std::nullopt : std::optional(usual);
}

Finding phantomAt(int epoch, std::int64_t step, std::string text)
{
    Finding finding;
    finding.subject = fmt::format("{}:{}", epoch, step);
    finding.level = AlertLevel::Error;
    finding.step = step;
    finding.title = fmt::format("Step {} was counted, but is not there", step);
    finding.text = std::move(text);
    return finding;
}

}

Findings publishStalled(const RuleInput& input)
{
    constexpr std::size_t Intervals = 20;
    constexpr std::int64_t LeastUs = 60 * SecondUs;
    constexpr double UntilError = 3;
    const std::vector<const StepView*> steps = recentSteps(input.run, Intervals + 1);
    const std::optional<double> usualUs = usualInterval(steps);
    if (!usualUs)
        return {};
    const double usual = *usualUs;
    std::int64_t newestUs = steps.front()->publishedUs;
    for (const StepView* step : steps)
        newestUs = std::max(newestUs, step->publishedUs);
    const double limit = std::max(static_cast<double>(LeastUs), input.threshold * usual);
    const auto silence = static_cast<double>(input.nowUs - newestUs);
    if (silence <= limit || input.nowUs - newestUs > std::max(DayUs, static_cast<std::int64_t>(UntilError * 2 * limit)))
        return {}; // in time, or over for good
    Finding finding;
    finding.level = silence > UntilError * limit ? AlertLevel::Error : AlertLevel::Warn;
    finding.step = steps.back()->step;
    finding.title = fmt::format("No new step since {}", steps.back()->step);
    finding.text = fmt::format(
        "No new step for more than {}; usual are {} from one to the next.",
        durationText(static_cast<std::int64_t>(finding.level == AlertLevel::Error ? UntilError * limit : limit)),
        durationText(static_cast<std::int64_t>(usual)));
    finding.value = silence / usual;
    return { finding };
}

Findings anchorOverdue(const RuleInput& input)
{
    constexpr std::size_t Steps = 1'000;
    constexpr std::size_t LeastChains = 2;
    std::vector<double> chains;
    std::optional<double> since;
    for (const StepView* step : recentSteps(input.run, Steps)) {
        if (step->kind == "anchor") {
            if (since)
                chains.push_back(*since);
            since = 0;
        } else if (since) {
            ++*since;
        }
    }
    if (chains.size() < LeastChains)
        return {};
    const double usual = std::max(medianOf(chains).value(), 1.0);
    if (*since <= input.threshold * usual)
        return {};
    Finding finding;
    finding.title = "No anchor for a long time";
    finding.text = fmt::format("More than {:g} deltas since the last anchor; usual are {:g} between two.",
                               input.threshold * usual, usual);
    finding.value = *since / usual;
    return { finding };
}

Findings storage(const RuleInput& input)
{
    constexpr double Gigabyte = 1e9;
    const std::vector<const StepView*> steps = recentSteps(input.run, TrendSteps);
    const auto bytes = static_cast<double>(input.run.wireBytes);
    double perDay = 0;
    if (usualInterval(steps) && steps.back()->publishedUs > steps.front()->publishedUs) {
        for (std::size_t i = 1; i < steps.size(); ++i)
            perDay += static_cast<double>(steps[i]->wireBytes);
        perDay *=
            static_cast<double>(DayUs) / static_cast<double>(steps.back()->publishedUs - steps.front()->publishedUs);
    }
    if (!steps.empty() && input.nowUs - steps.back()->publishedUs > DayUs)
        perDay = 0; // nothing grows any more
    const double limit = input.threshold * Gigabyte;
    if (bytes + perDay <= limit)
        return {};
    Finding finding;
    finding.title = bytes > limit ? "The run is larger than its limit" : "The run will reach its limit within a day";
    finding.text = fmt::format("{:.2g} GB of {:g} GB, and {:.2g} GB more a day.", bytes / Gigabyte, input.threshold,
                               perDay / Gigabyte);
    finding.value = (bytes + perDay) / Gigabyte;
    return { finding };
}

Findings clockSkew(const RuleInput& input)
{
    constexpr double Normal = 1.0 / 3; // of the threshold
    constexpr std::size_t Steps = 20;
    std::map<std::string, double> seconds; // by whose clock it is
    const auto compare = [&](const std::string& whose, std::int64_t aheadUs) {
        double& known = seconds[whose];
        known = std::max(known, std::abs(static_cast<double>(aheadUs)) / SecondUs);
    };
    const std::vector<const StepView*> steps = recentSteps(input.run, Steps);
    std::map<std::int64_t, std::int64_t> published;
    for (const StepView* step : steps) {
        published.emplace(step->step, step->publishedUs);
        if (step->publishedUs > input.nowUs)
            compare("the store", step->publishedUs - input.nowUs);
    }
    for (const ReplicaView& replica : input.run.replicas) {
        if (replica.ageSeconds < 0)
            compare(replica.id, static_cast<std::int64_t>(-replica.ageSeconds * SecondUs));
    }
    std::map<std::string, const SpanView*> uploads; // the newest one of each actor
    for (const SpanView& span : recentSpans(input.run)) {
        if (span.phase == "upload" && published.contains(span.step) && span.epoch == steps.back()->epoch)
            uploads[span.actor] = &span;
    }
    for (const auto& [actor, span] : uploads)
        compare(actor, published.at(span->step) - span->t1Us);
    Findings findings;
    for (const auto& [whose, off] : seconds) {
        if (off > Normal * input.threshold)
            findings.push_back(skewOf(whose, off, input.threshold));
    }
    return findings;
}

Findings phantomVersion(const RuleInput& input)
{
    const std::span<const StepView> steps = sinceLastAnchor(input.run); // behind an anchor nobody waits for it
    if (steps.empty())
        return {};
    const int epoch = steps.front().epoch;
    const auto waitUs = static_cast<std::int64_t>(input.threshold * SecondUs);
    std::map<std::int64_t, std::string> counted; // step, by whom
    for (const SpanView& span : recentSpans(input.run)) {
        if (span.phase == "upload" && span.epoch == epoch && input.nowUs - span.t1Us > waitUs)
            counted.emplace(span.step, span.actor);
    }
    Findings findings;
    for (const auto& [step, actor] : counted) {
        const bool isThere = std::any_of(steps.begin(), steps.end(), [step = step](const StepView& known) {
            return known.step == step && known.state != "gap";
        });
        if (!isThere && step >= steps.front().step)
            findings.push_back(phantomAt(
                epoch, step,
                fmt::format("{} says that it uploaded step {}, but no object of it is in the run.", actor, step)));
    }
    for (const ReplicaView& replica : input.run.replicas) {
        const bool isInHole = std::any_of(steps.begin(), steps.end(), [&](const StepView& known) {
            return known.state == "gap" && replica.step >= known.step && replica.step <= known.lastMissing;
        });
        if (isInHole && !counted.contains(*replica.step))
            findings.push_back(phantomAt(
                epoch, *replica.step,
                fmt::format("{} serves step {}, but no object of it is in the run.", replica.id, *replica.step)));
    }
    return findings;
}

} // namespace deltascope::app
