#pragma once

#include "deltascope/engine/path_state.h"

namespace deltascope {

/// Passes over slices of a chain. Each slice is replayed from its base on.
/// `isJudged`: digests that publishers recorded of tensors on the way are compared, and StateWalk::finish() reports
/// those that fail; else whoever observes judges. Where neither it nor an observer looks on, the replay begins at the
/// last complete version.
std::unique_ptr<StateWalk> makeChainWalk(const Chain& chain, std::vector<TensorSlice> slices, WalkOptions options,
                                         bool isJudged);

} // namespace deltascope
