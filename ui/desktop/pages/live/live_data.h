#pragma once

#include "bridge/service_bridge.h"
#include "deltascope/app/view/series_view.h"
#include "deltascope/app/view/summary_view.h"
#include "heat/layer_heat.h"
#include "pages/live/sync_stack.h"
#include "plot/plot_data.h"

#include <memory>

namespace deltascope::desktop {

/// What the page Live asks: of which steps, and for how many pixels.
struct LiveQuestion {
    RunPointer run; ///< with a RunView
    int epoch = 0;
    StepRange range { 0, 0 };
    std::uint32_t linePixels = 300; ///< of the narrowest chart of lines
    std::uint32_t barPixels = 300; ///< of a chart of bars
    std::uint32_t stackPixels = 600; ///< of the chart of phases
    std::uint32_t heatPixels = 600; ///< of the mini heatmap
    std::int64_t nowUs = 0;
    std::shared_ptr<const LayerHeat> heatBefore; ///< of the same run; may be null
};

/// All that the page Live shows. Immutable; any thread.
struct LiveData {
    RunPointer run;
    int epoch = 0;
    StepRange range { 0, 0 };
    app::RunSummaryView summary;
    app::SeriesView lines; ///< changed_frac
    app::SeriesView bars; ///< pause_ms, wire_bytes
    std::optional<app::WorstPauseView> worstPause; ///< in the range
    SyncStack sync;
    std::shared_ptr<const StepClock> clock;
    std::vector<app::ReplicaHistoryView> replicas; ///< the worst first
    std::vector<app::FeedItemView> feed; ///< newest first
    std::shared_ptr<const LayerHeat> heat; ///< null: nothing was replayed yet
    LayerPicture heatPicture; ///< of heat
};

/// Walks all steps: not for the GUI thread.
std::shared_ptr<const LiveData> makeLiveData(const LiveQuestion& question);

} // namespace deltascope::desktop
