#pragma once

#include "deltascope/app/service.h"
#include "deltascope/app/view/problem.h"
#include "deltascope/engine/tensor_view.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

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

/// Whether an error says why one step cannot tell the values of a tensor, and nothing of other steps.
inline bool isOfStep(const Error& error) { return speaksOfAnObject(error.code) || error.code == Code::Rewritten; }

/// What `make` says of a pair of states. Where it cannot be made and nobody asked for the state before: without that
/// one, with a notice that says why.
template <class Make> auto comparedIfSound(const TensorRequest& request, StatePair& pair, Make&& make)
{
    auto view = make(pair);
    if (view || !pair.beforePlan || !request.against.empty() || !isOfStep(view.error()))
        return view;
    Error why = std::move(view.error());
    why.text = fmt::format("not compared with step {}: {}", pair.beforeStep.value_or(0), why.text);
    pair.beforePlan.reset();
    pair.beforeStep.reset();
    view = make(pair);
    if (view)
        view->reads.notices.push_back(problemView(why));
    return view;
}

/// Where a tensor differs between a step and another state.
Result<BlocksView> blocksOf(Workbench& bench, const TensorRequest& request, std::uint32_t maxBlocks, TaskContext& task);
/// A window into a tensor at a step and at another state.
Result<ElementsView> elementsOf(Workbench& bench, const TensorRequest& request, const Window& window,
                                TaskContext& task);

} // namespace deltascope::app
