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

}

SeenChanges seenChanges(const Workbench& bench, const Run& run, std::vector<Error> told)
{
    const bool isRewritten =
        std::any_of(told.begin(), told.end(), [](const Error& change) { return change.code == Code::Rewritten; });
    SeenChanges changes { std::move(told), {} };
    if (!isRewritten)
        return changes;
    const RewrittenParts rewritten = rewrittenSinceSeen(bench, run);
    const Planner planner(run);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Result<Plan> plan = planner.planFor(run.versions[i]);
        if (std::optional<Error> refused = plan ? onTheWay(*plan, rewritten) : std::nullopt)
            changes.refused.emplace(i, std::move(*refused));
    }
    return changes;
}

} // namespace deltascope::app
