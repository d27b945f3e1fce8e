#pragma once

#include "deltascope/engine/lineage.h"

#include <string>
#include <vector>

namespace deltascope {

/// What is wrong with the first of the tensors, and how many others there are.
std::string textOf(const std::vector<SuspectTensor>& tensors);

/// Says of each version with suspect tensors which and why, and of what builds on it that it does. Once every version
/// was assessed.
void assessHealth(Run& run);

} // namespace deltascope
