#include "seen_changes.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace deltascope::app {

namespace {

bool isRewritten(const Error& change) { return change.code == Code::Rewritten; }

/// Asks about each part of a way once.
class RewrittenParts {
public:
    RewrittenParts(const Workbench& bench, const Run& run)
        : m_bench(bench)
        , m_run(run)
    {
    }

    std::optional<Error> onTheWay(const Plan& plan)
    {
        for (auto link = plan.links.rbegin(); link != plan.links.rend(); ++link) {
            const auto [at, isNew] = m_links.try_emplace(*link);
            if (isNew)
                at->second = of(partOf({ *link }, false));
            if (at->second)
                return at->second;
        }
        if (!plan.fromExternalBase)
            return std::nullopt;
        if (!m_base)
            m_base = of(partOf({}, true));
        return *m_base;
    }

private:
    static Plan partOf(std::vector<PlanLink> links, bool fromExternalBase)
    {
        Plan part;
        part.links = std::move(links);
        part.fromExternalBase = fromExternalBase;
        return part;
    }

    std::optional<Error> of(const Plan& part) const
    {
        const std::vector<Error> changes = changedSinceSeen(m_bench, m_run, part);
        const auto found = std::find_if(changes.begin(), changes.end(), isRewritten);
        if (found == changes.end())
            return std::nullopt;
        Error rewritten = *found;
        if (!part.links.empty()) // many objects of one version are one sentence
            rewritten.step = m_run.versions[part.links.front().version].step();
        return rewritten;
    }

    const Workbench& m_bench;
    const Run& m_run;
    std::map<PlanLink, std::optional<Error>> m_links;
    std::optional<std::optional<Error>> m_base;
};

}

SeenChanges seenChanges(const Workbench& bench, const Run& run)
{
    SeenChanges changes { changedSinceSeen(bench, run), {} };
    if (std::none_of(changes.told.begin(), changes.told.end(), isRewritten))
        return changes;
    RewrittenParts parts(bench, run);
    const Planner planner(run);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Result<Plan> plan = planner.planFor(run.versions[i]);
        if (std::optional<Error> rewritten = plan ? parts.onTheWay(*plan) : std::nullopt)
            changes.refused.emplace(i, std::move(*rewritten));
    }
    return changes;
}

} // namespace deltascope::app
