#include "stretches.h"

#include "deltascope/engine/rewritten_parts.h"

#include <fmt/format.h>
#include <set>

namespace deltascope::app {

std::string reasonOf(const Error& error)
{
    return error.step ? fmt::format("step {}: {}", *error.step, error.text) : error.text;
}

std::vector<Stretch> stretchesOf(const Run& run, const Version& newest, std::size_t steps, bool acceptRewritten)
{
    std::set<std::size_t> wanted;
    for (auto at = static_cast<std::size_t>(&newest - run.versions.data()) + 1;
         at-- > 0 && wanted.size() < steps && run.versions[at].epoch == newest.epoch;)
        wanted.insert(at);
    const PlannerAround planner(run, acceptRewritten);
    std::vector<Stretch> stretches;
    while (!wanted.empty()) {
        const std::size_t last = *wanted.rbegin();
        Result<Plan> plan = planner.planFor(run.versions[last]);
        wanted.erase(last);
        if (!plan)
            continue;
        Stretch stretch { std::move(*plan), {} };
        const std::size_t base = stretch.plan.fromExternalBase ? 1 : 0;
        for (std::size_t i = 0; i < stretch.plan.links.size(); ++i) {
            const PlanLink& link = stretch.plan.links[i];
            // Another form below may differ from what the deltas lead to: such a step is rebuilt by itself.
            if (link.version == last || (link.form == 0 && wanted.erase(link.version) > 0))
                stretch.links[base + i] = &run.versions[link.version];
        }
        stretches.push_back(std::move(stretch));
    }
    return stretches;
}

void addUnreadStep(std::vector<UnreadStepsView>& list, std::int64_t first, std::int64_t last, std::string why)
{
    if (!list.empty() && list.back().why == why && list.back().last + 1 == first)
        list.back().last = last;
    else
        list.push_back({ first, last, std::move(why) });
}

} // namespace deltascope::app
