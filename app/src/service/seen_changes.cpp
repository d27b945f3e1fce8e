#include "seen_changes.h"

#include "deltascope/engine/rewritten_parts.h"
#include "view/make_views.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace deltascope::app {

namespace {

/// What says that the main form of a version was rewritten; null: it was not.
const Error* ownRewritten(const Version& version)
{
    const auto own = version.rewrittenForms.find(0);
    return own == version.rewrittenForms.end() ? nullptr : &own->second;
}

/// What was rewritten in or in front of a version that has no plan, which may be the reason. `over`: the versions
/// before it that stand on such objects.
const Error* inFront(const Run& run, std::size_t at, const std::set<std::size_t>& over)
{
    const Version& version = run.versions[at];
    if (const Error* const own = ownRewritten(version); own || version.kind == VersionKind::Anchor)
        return own;
    if (version.onExternalBase && run.baseRewritten)
        return &*run.baseRewritten;
    for (std::optional<std::size_t> i = version.base; i && over.contains(*i); i = run.versions[*i].base) {
        if (const Error* const rewritten = ownRewritten(run.versions[*i]))
            return rewritten;
    }
    return nullptr;
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

SeenChanges seenChanges(const Run& run, std::vector<Error> told)
{
    SeenChanges changes { std::move(told), {}, {} };
    if (!anyRewritten(run))
        return changes;
    const Planner planner(run);
    const Planner plannerAround(run, aroundRewritten(run));
    std::set<std::size_t> overRewritten; ///< that are counted so
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Result<Plan> plan = planner.planFor(run.versions[i]);
        const Error* const refused = plan ? rewrittenOn(run, *plan) : inFront(run, i, overRewritten);
        if (!refused)
            continue;
        overRewritten.insert(i);
        const Result<Plan> other = plannerAround.planFor(run.versions[i]);
        if (!other || rewrittenOn(run, *other))
            changes.refused.emplace(i, *refused);
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
    , m_planner(run, aroundRewritten(run))
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
    const std::map<std::size_t, Error>& rewritten = m_run.versions[at].rewrittenForms;
    if (const auto own = rewritten.find(form); own != rewritten.end())
        return own->second.text;
    const Result<Plan> plan = m_planner.planOver(m_run.versions[at], form);
    return plan && !rewrittenOn(m_run, *plan) ? std::string()
                                              : "what it builds on was rewritten since it was first seen";
}

} // namespace deltascope::app
