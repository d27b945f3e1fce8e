#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Adds what differs between two blocks of a tensor to `diff`: counts by bits, distances by value where the type is a
/// number. `touched`: one flag per element that the deltas between name, or empty.
void compareBlocks(ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff);

} // namespace deltascope
