#pragma once

#include "deltascope/engine/lineage.h"

#include <vector>

namespace deltascope {

/// Where versions stand alone: notes the folders of a listing that are called like checkpoints and hold no weights, as
/// a save that was killed leaves them. Several of one kind are one notice.
void noteEmptyCheckpoints(Run& run, const std::vector<ObjectInfo>& listing);

} // namespace deltascope
