#pragma once

#include "deltascope/engine/evidence.h"
#include "deltascope/engine/plan.h"

#include <vector>

namespace deltascope {

/// All that is known against the versions that a rebuild uses, each problem once.
std::vector<Error> noticesOf(const Run& run, const Plan& plan);

/// Whether verify would call the state verified or consistent.
bool isVouchedFor(const Run& run, const Version& version, const Plan& plan, const Coverage& coverage);

} // namespace deltascope
