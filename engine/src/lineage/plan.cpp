#include "deltascope/engine/lineage.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// Where both forms are there and agree, or are not known to differ, the full one is less to read.
bool startsHere(const Version& version, bool isTarget, const PlanOptions& options)
{
    if (!version.hasUsableFullForm())
        return false;
    if (version.onlyFullForm || !version.facts || version.facts->fullFormDiffers.value_or(0) == 0)
        return true;
    return isTarget && options.state == StateChoice::Trained;
}

}

Result<Plan> planFor(const Run& run, const Version& version, const PlanOptions& options)
{
    Plan plan;
    for (const Version* at = &version;;) {
        const std::size_t self = static_cast<std::size_t>(at - run.versions.data());
        const bool excused = options.acrossGap && at->lossProven;
        if (at->obstacle && at->obstacleAt == self && !excused)
            return fail(*version.obstacle);
        plan.links.push_back(PlanLink { self, startsHere(*at, at == &version, options) });
        if (plan.links.back().fullForm) {
            plan.readBytes += at->objects.fullForm->wireBytes();
            break;
        }
        plan.readBytes += at->objects.wireBytes();
        plan.acrossGap = plan.acrossGap || at->acrossGap;
        plan.lossProven = plan.lossProven || at->lossProven;
        plan.lossy = plan.lossy || (at->summary && at->summary->lossy);
        if (at->kind == VersionKind::Anchor)
            break;
        if (at->base) {
            at = &run.versions[*at->base];
            continue;
        }
        if (at->onExternalBase && run.base) {
            plan.fromExternalBase = true;
            plan.readBytes += run.base->objects.wireBytes();
            break;
        }
        return fail(*version.obstacle);
    }
    std::reverse(plan.links.begin(), plan.links.end());
    return plan;
}

} // namespace deltascope
