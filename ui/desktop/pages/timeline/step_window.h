#pragma once

#include "deltascope/app/view/run_view.h"
#include "state/step_cursor.h"

namespace deltascope::desktop {

// Which versions of an epoch are shown, counted in versions and not in step numbers, which may have holes. Pure.

/// The newest `count` versions up to `end`, or those around it where it is not the newest. Nothing: there are none.
std::optional<StepRange> windowAround(const app::EpochView& epoch, std::int64_t step, std::size_t count);
/// `factor` > 1 shows fewer versions; what is at `place` (0: left, 1: right) stays there. At least `least` versions.
StepRange zoomedWindow(const app::EpochView& epoch, const StepRange& window, double place, double factor);
/// Moved by `versions`, cut at the ends of the epoch without becoming smaller.
StepRange pannedWindow(const app::EpochView& epoch, const StepRange& window, std::ptrdiff_t versions);
/// Versions in a window; missing numbers are none.
std::size_t versionsIn(const app::EpochView& epoch, const StepRange& window);

} // namespace deltascope::desktop
