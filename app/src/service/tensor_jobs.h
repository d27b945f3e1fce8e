#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/tensor_view.h"

namespace deltascope::app {

/// Where a tensor differs between a step and another state.
Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, std::uint32_t maxBlocks, TaskContext& task);
/// A window into a tensor at a step and at another state.
Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const Window& window,
                                TaskContext& task);

} // namespace deltascope::app
