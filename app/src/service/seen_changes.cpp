#include "seen_changes.h"

#include "deltascope/engine/rewritten_parts.h"
#include "view/make_views.h"

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

PlanOptions without(const std::map<PlanLink, Error>& rewritten)
{
    PlanOptions options;
    for (const auto& [link, change] : rewritten)
        options.without.push_back(link);
    return options;
}

/// The same of a version that has no plan: that may be the fault of what was rewritten. `over`: those before it.
std::optional<Error> inFront(const Run& run, std::size_t at, const RewrittenParts& rewritten,
                             const std::set<std::size_t>& over)
{
    const Version& version = run.versions[at];
    if (const auto own = rewritten.links.find(PlanLink { at, 0 }); own != rewritten.links.end())
        return own->second;
    if (version.kind == VersionKind::Anchor)
        return std::nullopt;
    if (version.onExternalBase && rewritten.base)
        return rewritten.base;
    for (std::optional<std::size_t> i = version.base; i && over.contains(*i); i = run.versions[*i].base) {
        if (const auto link = rewritten.links.find(PlanLink { *i, 0 }); link != rewritten.links.end())
            return link->second;
    }
    return std::nullopt;
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
    SeenChanges changes { std::move(told), {}, {}, {}, {} };
    if (!isRewritten)
        return changes;
    const RewrittenParts rewritten = rewrittenSinceSeen(bench, run);
    changes.rewritten = rewritten.links;
    changes.rewrittenBase = rewritten.base;
    const Planner planner(run);
    const Planner plannerAround(run, without(rewritten.links));
    std::set<std::size_t> overRewritten; ///< that are counted so
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Result<Plan> plan = planner.planFor(run.versions[i]);
        std::optional<Error> refused = plan ? onTheWay(*plan, rewritten) : inFront(run, i, rewritten, overRewritten);
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

WaysAround::WaysAround(const Run& run, const SeenChanges& changes)
    : m_run(run)
    , m_changes(changes)
    , m_planner(run, without(changes.rewritten))
{
}

void WaysAround::show(StepView& step, std::size_t at) const
{
    const Version& version = m_run.versions[at];
    if (const Result<Plan> plan = m_planner.planFor(version); plan && !m_changes.refused.contains(at)) {
        step.restore.deltas = plan->deltas();
        step.restore.bytes = plan->readBytes;
    }
    if (step.forms.empty())
        return;
    const std::vector<FormView> ways = std::exchange(step.forms, makeFormViews(version, m_planner));
    for (std::size_t form = 0; form < step.forms.size(); ++form) {
        if (!ways[form].restore.reason.empty())
            continue; // it cannot be read, whatever the records say
        if (std::string why = whyRefused(at, form); !why.empty()) {
            step.forms[form].restore = {};
            step.forms[form].restore.reason = std::move(why);
            step.forms[form].isUsed = false;
        }
    }
}

std::string WaysAround::whyRefused(std::size_t at, std::size_t form) const
{
    if (const auto own = m_changes.rewritten.find(PlanLink { at, form }); own != m_changes.rewritten.end())
        return own->second.text;
    const Result<Plan> plan = m_planner.planOver(m_run.versions[at], form);
    const bool isOnBase = plan && plan->fromExternalBase && m_changes.rewrittenBase;
    return plan && !isOnBase ? std::string() : "what it builds on was rewritten since it was first seen";
}

} // namespace deltascope::app
