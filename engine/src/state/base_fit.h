#pragma once

#include "deltascope/engine/path_state.h"

#include <memory>
#include <vector>

namespace deltascope {

/// The error of a replay over `links` that begins with a checkpoint outside of the source; or, in its place, that this
/// checkpoint is not the one that the chain was written against: at least two tensors and most of the first delta do
/// not fit it, all because it lacks them, or all because they have another dtype or size there. Reads that delta once
/// if the error is about its content.
Error blameBase(const std::vector<std::shared_ptr<const OpenVersion>>& links, Error error, TaskContext& task);

} // namespace deltascope
