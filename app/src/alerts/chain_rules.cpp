#include "alerts/recent.h"
#include "alerts/rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

std::string subjectOf(const StepView& step) { return fmt::format("{}:{}", step.epoch, step.step); }

const ProblemView* problemWith(const std::vector<ProblemView>& problems, std::initializer_list<std::string_view> codes)
{
    const auto at = std::find_if(problems.begin(), problems.end(), [&](const ProblemView& problem) {
        return std::find(codes.begin(), codes.end(), problem.code) != codes.end();
    });
    return at == problems.end() ? nullptr : &*at;
}

/// What the run says of a hole in its numbers.
std::string textOf(const RunView& run, const StepView& gap)
{
    for (const ProblemView& problem : run.problems) {
        if ((problem.code == "DS-CHAIN-GAP" || problem.code == "DS-VANISHED") && problem.step == gap.step)
            return problem.text;
    }
    return "No object has this number.";
}

/// The newest version of a chain, if it was here and is gone; null: nothing like that.
const ProblemView* newestGone(const RunView& run)
{
    const std::vector<const StepView*> steps = newestSteps(run);
    const bool isChain =
        std::any_of(steps.begin(), steps.end(), [](const StepView* step) { return step->kind == "delta"; });
    if (!isChain)
        return nullptr;
    const auto found = std::find_if(run.problems.begin(), run.problems.end(), [&](const ProblemView& problem) {
        return problem.code == "DS-VANISHED" && problem.step && *problem.step > steps.back()->step;
    });
    return found != run.problems.end() ? &*found : nullptr;
}

Finding goneFinding(const RuleInput& input, const ProblemView& gone)
{
    Finding finding;
    finding.subject = fmt::format("{}:{}", input.run.epochs.back().epoch, *gone.step);
    finding.level = AlertLevel::Error;
    finding.step = gone.step;
    finding.title = fmt::format("Step {} was here and is gone", *gone.step);
    finding.text = gone.text;
    finding.afterUs = static_cast<std::int64_t>(input.threshold * SecondUs);
    return finding;
}

Finding missing(const StepView& step, double seconds, std::string title, std::string text)
{
    Finding finding;
    finding.subject = subjectOf(step);
    finding.level = AlertLevel::Error;
    finding.step = step.step;
    finding.title = std::move(title);
    finding.text = std::move(text);
    finding.afterUs = static_cast<std::int64_t>(seconds * SecondUs);
    return finding;
}

}

Findings chainGap(const RuleInput& input)
{
    Findings findings;
    const std::span<const StepView> steps =
        sinceLastAnchor(input.run); // what lies before a sound anchor harms no chain
    if (const ProblemView* gone = newestGone(input.run))
        findings.push_back(goneFinding(input, *gone));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const StepView& step = steps[i];
        if (step.state == "gap" && i + 1 < steps.size() && !(steps[i + 1].restorable && steps[i + 1].proven)) {
            const std::string title = step.lastMissing > step.step
                ? fmt::format("Steps {} to {} are missing", step.step, step.lastMissing)
                : fmt::format("Step {} is missing", step.step);
            findings.push_back(missing(step, input.threshold, title, textOf(input.run, step)));
        }
        const bool behindGap = i > 0 && steps[i - 1].state == "gap";
        const ProblemView* const lost =
            problemWith(step.problems, { "DS-CHAIN-GAP", "DS-VANISHED", "DS-BASE-MISSING", "DS-BASE-MISMATCH" });
        if (lost && !step.restorable && !step.restore.blockedBy && !behindGap)
            findings.push_back(
                missing(step, input.threshold, fmt::format("Step {} has no base that fits", step.step), lost->text));
    }
    return findings;
}

Findings digestMismatch(const RuleInput& input)
{
    constexpr std::size_t Steps = 1'000;
    constexpr std::int64_t UntilReplayedUs = 10 * SecondUs; // replicas may be faster than we are
    Findings findings;
    std::optional<std::int64_t> damaged; ///< the newest such step
    for (const StepView* step : recentSteps(input.run, Steps)) {
        const ProblemView* const damage =
            problemWith(step->problems, { "DS-DIGEST", "DS-TRUNCATED", "DS-MALFORMED", "DS-HOSTILE" });
        const std::optional<VerifiedView> verified = verifiedOf(input.verified, *step);
        const bool failed = verified && verified->result == "damaged";
        if (!damage && !failed)
            continue;
        Finding finding;
        finding.subject = subjectOf(*step);
        finding.level = AlertLevel::Error;
        finding.step = step->step;
        finding.title = fmt::format("Step {} is damaged", step->step);
        finding.text = damage ? damage->text : fmt::format("Verification at level {} has failed.", verified->level);
        damaged = step->step;
        findings.push_back(std::move(finding));
    }
    for (const ReplicaView& replica : input.run.replicas) {
        const bool isExplained = damaged && replica.step < damaged;
        if (replica.state != "digest-mismatch" || replica.late || isExplained)
            continue;
        Finding finding;
        finding.subject = replica.id;
        finding.level = AlertLevel::Error;
        finding.replica = replica.id;
        finding.title = fmt::format("{} refuses a step", shortName(replica.id));
        finding.text = replica.detail;
        finding.afterUs = UntilReplayedUs;
        findings.push_back(std::move(finding));
    }
    return findings;
}

Findings drift(const RuleInput& input)
{
    const RunView& run = input.run;
    if (run.drift.empty() || run.epochs.empty() || run.drift.back().epoch != run.epochs.back().epoch)
        return {};
    const DriftView& last = run.drift.back();
    const std::vector<StepView>& steps = run.epochs.back().steps;
    const auto step = std::find_if(steps.rbegin(), steps.rend(),
                                   [&](const StepView& view) { return view.step == last.step && view.state != "gap"; });
    const ProblemView* const problem =
        step == steps.rend() ? nullptr : problemWith(step->problems, { "DS-ANCHOR-DRIFT" });
    if (!problem)
        return {};
    Finding finding;
    finding.level = AlertLevel::Error;
    finding.step = last.step;
    finding.title = fmt::format("Drift at step {}", last.step);
    finding.text = problem->text;
    if (last.estimate)
        finding.value = static_cast<double>(*last.estimate);
    return { finding };
}

Findings suspectValues(const RuleInput& input)
{
    if (input.run.epochs.empty())
        return {};
    const std::vector<StepView>& steps = input.run.epochs.back().steps;
    const auto problemOf = [](const StepView& step) { return problemWith(step.problems, { "DS-SUSPECT-VALUES" }); };
    const auto newest = std::find_if(steps.rbegin(), steps.rend(), [](const StepView& step) {
        return step.state != "gap" && step.state != "publishing";
    });
    if (newest == steps.rend() || !problemOf(*newest))
        return {};
    // The step that began it says what it is; those behind only that they build on it.
    const auto before = std::find_if_not(newest, steps.rend(),
                                         [&](const StepView& step) { return problemOf(step) || step.state == "gap"; });
    const auto first = std::find_if(before.base(), steps.end(), problemOf);
    Finding finding;
    finding.level = AlertLevel::Error;
    finding.step = first->step;
    finding.title = fmt::format("Suspect values since step {}", first->step);
    finding.text = problemOf(*first)->text;
    return { finding };
}

Findings verifyBehind(const RuleInput& input)
{
    constexpr double Normal = 0.5; // of the threshold
    if (input.run.epochs.empty())
        return {};
    const std::vector<StepView>& steps = input.run.epochs.back().steps;
    const auto newest = std::find_if(steps.rbegin(), steps.rend(), [&](const StepView& step) {
        return input.verified.contains({ step.epoch, step.step });
    });
    if (newest == steps.rend())
        return {}; // nobody verifies this run
    const auto behind = std::count_if(steps.rbegin(), newest, [](const StepView& step) { return step.state != "gap"; });
    const auto count = static_cast<double>(behind);
    if (count < Normal * input.threshold)
        return {};
    Finding finding;
    finding.level = AlertLevel::Info;
    finding.title = "Verification has fallen behind";
    finding.text = fmt::format("More than {:g} steps since step {}, the last one that was verified.", input.threshold,
                               newest->step);
    finding.value = count;
    finding.holds = count > input.threshold;
    return { finding };
}

} // namespace deltascope::app
