#include "pages/live/sync_stack.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

void put(SyncStack& stack, std::size_t at, const app::BarView& bar)
{
    stack.steps[at] = bar.step;
    for (std::vector<double>& values : stack.seconds)
        values[at] = 0;
    for (const app::PhaseTimeView& phase : bar.phases)
        stack.seconds[static_cast<std::size_t>(groupOf(phase.phase))][at] += static_cast<double>(phase.us) / 1e6;
}

}

SyncStack makeSyncStack(const app::TimelineView& timeline, StepRange range, std::uint32_t most)
{
    SyncStack stack;
    const double perBar = std::max(1.0, static_cast<double>(range.second - range.first + 1) / std::max(1U, most));
    std::int64_t bucket = -1;
    std::int64_t longestUs = 0;
    for (const app::BarView& bar : timeline.bars) {
        if (!bar.slowest || bar.step < range.first || bar.step > range.second)
            continue;
        const auto mine = static_cast<std::int64_t>(static_cast<double>(bar.step - range.first) / perBar);
        const std::int64_t lengthUs = bar.t1Us - bar.t0Us;
        if (mine != bucket) {
            stack.steps.push_back(bar.step);
            for (std::vector<double>& values : stack.seconds)
                values.push_back(0);
        } else if (lengthUs <= longestUs) {
            continue;
        }
        bucket = mine;
        longestUs = lengthUs;
        put(stack, stack.steps.size() - 1, bar);
    }
    return stack;
}

} // namespace deltascope::desktop
