#include "deltascope/engine/lineage.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

Result<Plan> planFor(const Run& run, const Version& version, bool acrossGap)
{
    Plan plan;
    for (const Version* at = &version;;) {
        const std::size_t self = static_cast<std::size_t>(at - run.versions.data());
        const bool excused = acrossGap && at->lossProven;
        if (at->obstacle && at->obstacleAt == self && !excused)
            return fail(*version.obstacle);
        plan.links.push_back(self);
        plan.readBytes += at->objects.wireBytes();
        plan.acrossGap = plan.acrossGap || at->acrossGap;
        plan.lossProven = plan.lossProven || at->lossProven;
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
