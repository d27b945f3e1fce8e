#include "seen_changes.h"

#include "deltascope/engine/rewritten_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace deltascope::app {

namespace {

/// What a plan is refused for.
std::optional<Error> onTheWay(const Plan& plan, const RewrittenParts& rewritten)
{
    for (auto link = plan.links.rbegin(); link != plan.links.rend(); ++link) {
        if (const auto found = rewritten.links.find(*link); found != rewritten.links.end())
            return found->second;
    }
    return plan.fromExternalBase ? rewritten.base : std::nullopt;
}

/// The version whose state a version is compared with, as far as that is in the run.
std::optional<std::size_t> countedAgainst(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (version.kind != VersionKind::Anchor)
        return version.base;
    return at > 0 && run.versions[at - 1].epoch == version.epoch ? std::optional(at - 1) : std::nullopt;
}

}

SeenChanges seenChanges(const Workbench& bench, const Run& run, std::vector<Error> told)
{
    const bool isRewritten =
        std::any_of(told.begin(), told.end(), [](const Error& change) { return change.code == Code::Rewritten; });
    SeenChanges changes { std::move(told), {}, {}, {} };
    if (!isRewritten)
        return changes;
    const RewrittenParts rewritten = rewrittenSinceSeen(bench, run);
    PlanOptions around;
    for (const auto& [link, change] : rewritten.links) {
        around.without.push_back(link);
        changes.rewritten.insert(link.version);
    }
    const Planner planner(run);
    const Planner plannerAround(run, around);
    std::set<std::size_t> overRewritten; ///< that are counted so
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Result<Plan> plan = planner.planFor(run.versions[i]);
        std::optional<Error> refused = plan ? onTheWay(*plan, rewritten) : std::nullopt;
        if (!refused)
            continue;
        overRewritten.insert(i);
        const Result<Plan> other = plannerAround.planFor(run.versions[i]);
        if (!other || onTheWay(*other, rewritten))
            changes.refused.emplace(i, std::move(*refused));
    }
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const std::optional<std::size_t> before = countedAgainst(run, i);
        if (overRewritten.contains(i) || (before && overRewritten.contains(*before)))
            changes.miscounted.insert(i);
    }
    return changes;
}

void forgetCounts(StepView& step)
{
    step.changedElements.reset();
    step.changedVsPrevious.reset();
    step.changedFraction.reset();
}

} // namespace deltascope::app
