#pragma once

#include "pages/timeline/phases.h"
#include "state/step_cursor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace deltascope::desktop {

/// Sync times of the slowest replica of each step by groups of phases.
struct SyncStack {
    std::vector<std::int64_t> steps;
    std::array<std::vector<double>, PhaseGroups.size()>
        seconds; ///< one value per step each, in the order of PhaseGroups
};

/// `most`: bars that there is room for; of steps that share one the longest is shown.
SyncStack makeSyncStack(const app::TimelineView& timeline, StepRange range, std::uint32_t most);

} // namespace deltascope::desktop
