#pragma once

#include "deltascope/app/view/summary_view.h"

#include "support/times.h"
#include "view/newest_restorable.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

// Small runs by hand, for what is computed from run views.

/// A whole step, published ten seconds after the one before it.
inline StepView stepView(std::int64_t step, std::string kind = "delta", int epoch = 0)
{
    StepView view;
    view.epoch = epoch;
    view.step = step;
    view.name = "step_" + std::to_string(step);
    view.kind = std::move(kind);
    view.state = "complete";
    view.restorable = true;
    view.publishedUs = test::Begin + step * 10 * test::Second;
    view.wireBytes = view.kind == "anchor" ? 1'000'000 : 5'000;
    if (view.kind != "anchor")
        view.baseStep = step - 1;
    return view;
}

inline StepView gapStep(std::int64_t first, std::int64_t last, int epoch = 0)
{
    StepView view;
    view.epoch = epoch;
    view.step = first;
    view.lastMissing = last;
    view.kind = view.state = "gap";
    return view;
}

inline RunView runView(std::vector<std::vector<StepView>> epochs)
{
    RunView run;
    run.source = "file:///data/wordle";
    run.layout = "trl-v2";
    run.run = "wordle";
    for (std::vector<StepView>& steps : epochs) {
        const int epoch = static_cast<int>(run.epochs.size());
        for (StepView& step : steps)
            step.epoch = epoch;
        run.epochs.push_back({ epoch, std::move(steps) });
    }
    return run;
}

/// Offers the newest step that can be rebuilt, unless the test offers another one.
inline void offerNewest(RunView& run)
{
    const StepView* newest = newestRestorable(run);
    if (!run.latest && newest)
        run.latest = newest->step;
}

inline std::shared_ptr<RunSnapshot> snapshotOf(RunView run)
{
    offerNewest(run);
    auto snapshot = std::make_shared<RunSnapshot>();
    snapshot->id = snapshot->name = "wordle";
    snapshot->source = run.source;
    snapshot->state = "live";
    snapshot->run = std::make_shared<const RunView>(std::move(run));
    return snapshot;
}

} // namespace deltascope::app
