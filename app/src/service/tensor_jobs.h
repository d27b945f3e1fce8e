#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/tensor_view.h"

namespace deltascope::app {

/// A step of a run, what it is compared with, and how both are rebuilt.
struct StatePair {
    Run run;
    const Version* version = nullptr; ///< in `run`
    Plan plan;
    std::optional<Plan> beforePlan; ///< nothing: there is no state before
    std::optional<std::int64_t> beforeStep;
    bool acceptRewritten = false; ///< VersionRequest::acceptRewritten
};
struct OpenPair {
    PathPtr now;
    PathPtr before; ///< null: there is no state before
};
/// Errors: Usage (a file on its own has no steps), those of openRun and planFor.
Result<StatePair> planPair(Workbench& bench, const TensorRequest& request, TaskContext& task);

/// Both states. Errors: those of openChecked().
Result<OpenPair> openPair(Workbench& bench, const StatePair& pair, TaskContext& task);

/// Where a tensor differs between a step and another state.
Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, std::uint32_t maxBlocks, TaskContext& task);
/// A window into a tensor at a step and at another state.
Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const Window& window,
                                TaskContext& task);

} // namespace deltascope::app
