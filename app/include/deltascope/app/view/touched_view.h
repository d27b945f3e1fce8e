#pragma once

#include "deltascope/app/view/summary_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

class Service;

struct TouchedTensorView {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t elements = 0;
    std::uint64_t atMost = 0; ///< sum over the deltas, so an element that changes twice counts twice
};

/// What the deltas between two steps touch: sums of counts, an upper bound of what differs.
struct TouchedView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::int64_t a = 0; ///< the older step
    std::int64_t b = 0;
    std::uint64_t elementsAtMost = 0;
    std::optional<std::uint64_t> elementsTotal;
    std::vector<TouchedTensorView> tensors; ///< that are touched, most elements first
};

/// From counts that the catalog knows; the steps in either order. Reads the catalog: not for a GUI thread. Errors:
/// Transient (nothing was replayed yet), Usage (two epochs), Unsupported (more than 2,000 steps, or one of them is not
/// known), NotFound (a step between them was not replayed).
Result<TouchedView> makeTouchedView(const Service& service, const RunSnapshot& snapshot, const StepView& a,
                                    const StepView& b);

} // namespace deltascope::app
