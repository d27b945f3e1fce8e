#pragma once

#include "deltascope/engine/state.h"

#include <memory>
#include <vector>

namespace deltascope {

class PathState;

/// Passes over slices of a chain. Each slice is replayed from its base on.
/// `isJudged`: digests that publishers recorded of tensors on the way are compared, and StateWalk::finish() reports
/// those that fail; else the observers judge. Where neither it nor an observer looks on, the replay begins at the
/// last complete version.
std::unique_ptr<StateWalk> makeChainWalk(const PathState& chain, std::vector<TensorSlice> slices, WalkOptions options,
                                         bool isJudged);

} // namespace deltascope
