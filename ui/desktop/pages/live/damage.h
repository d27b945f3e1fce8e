#pragma once

#include "deltascope/app/view/summary_view.h"

#include <optional>

namespace deltascope::desktop {

/// A step that must not be used, and the last one that can be.
struct Damage {
    int epoch = 0;
    std::int64_t step = 0;
    bool damaged = true; ///< false: its own objects are sound, but it cannot be rebuilt from what is there
    app::ProblemView problem;
    std::optional<app::VerifiedView> verified; ///< the verification that found it; nothing: reading the bucket did
    std::optional<std::int64_t> sound; ///< newest step before it that can be rebuilt; nothing: none
};

/// The first unusable step of the newest chain: what comes after it stands on it. Damage that a later anchor has made
/// harmless is not told here, it stands in the list of alerts. A step that is still being published is not damaged.
std::optional<Damage> findDamage(const app::RunSnapshot& snapshot);

} // namespace deltascope::desktop
