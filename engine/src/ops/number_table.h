#pragma once

#include "deltascope/engine/tensor.h"

#include <vector>

namespace deltascope {

/// The value of every pattern of a number type of at most 16 bits, NaN for NaN; empty for all other types. Made once
/// per type; any thread.
const std::vector<double>& numberTable(Dtype dtype);

} // namespace deltascope
