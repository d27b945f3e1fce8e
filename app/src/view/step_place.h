#pragma once

#include "deltascope/app/view/run_view.h"

#include <cstdint>

namespace deltascope::app {

/// Where a number stands in a run.
enum class StepPlace : std::uint8_t {
    Inside, ///< of a version of the run, or of a gap in it
    Gone, ///< the run is known to have had it, or a retention may have removed it: it is below all that is there
    Foreign, ///< nothing speaks of it
};

StepPlace placeOf(const RunView& run, std::int64_t step);

} // namespace deltascope::app
