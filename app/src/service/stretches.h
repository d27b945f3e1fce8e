#pragma once

#include "deltascope/engine/plan.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace deltascope::app {

/// Steps whose states lie on the way to one of them.
struct Stretch {
    Plan plan;
    std::map<std::size_t, const Version*> links; ///< of the chain
};

/// The last `steps` steps up to a version, in its epoch, in as few chains as possible, the newest chain first. What
/// cannot be rebuilt is left out. The versions are those of `run`.
std::vector<Stretch> stretchesOf(const Run& run, const Version& newest, std::size_t steps);

} // namespace deltascope::app
