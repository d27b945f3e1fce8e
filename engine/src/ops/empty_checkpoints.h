#pragma once

#include "deltascope/engine/lineage.h"

#include <vector>

namespace deltascope {

/// What to say of the folders of a listing that are called like checkpoints and hold no weights: a save that was
/// killed, or what a clean-up left.
std::vector<Error> emptyCheckpoints(const std::vector<ObjectInfo>& listing, const Run& run);

} // namespace deltascope
