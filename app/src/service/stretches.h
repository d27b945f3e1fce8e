#pragma once

#include "deltascope/app/view/statistics_view.h"
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

/// Why a step is not read that has the tensor, but not as the step that was asked for has it.
inline constexpr const char* OtherForm = "it has another type or shape there";
/// Why steps are not read: the text of an error, behind the step that it speaks of.
std::string reasonOf(const Error& error);

/// The last `steps` steps up to a version, in its epoch, in as few chains as possible, the newest chain first. What
/// cannot be rebuilt is left out. The versions are those of `run`. `acceptRewritten`: as PlannerAround has it.
std::vector<Stretch> stretchesOf(const Run& run, const Version& newest, std::size_t steps, bool acceptRewritten);

/// Adds steps behind those of the list, to the last of them where both are not read for the same reason.
void addUnreadStep(std::vector<UnreadStepsView>& list, std::int64_t first, std::int64_t last, std::string why);

} // namespace deltascope::app
