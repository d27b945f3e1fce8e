#pragma once

#include "bridge/service_bridge.h"
#include "pages/timeline/phases.h"
#include "state/step_cursor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::desktop {

// What the page Timeline shows, laid out from a TimelineView: made off the GUI thread, then immutable.

/// The place of one version among the bars; one without a bar has no known sync.
struct BarSlot {
    std::int64_t step = 0;
    bool anchor = false;
    std::optional<std::size_t> bar; ///< in TimelineView::bars
};

/// The row of one actor, or of the bucket, in the wall clock.
struct Lane {
    bool bucket = false;
    std::string actor;
    std::optional<std::int64_t> behind; ///< versions of the run that the replica does not serve yet
    std::vector<app::SpanView> spans; ///< by begin; without pauses
    std::vector<app::SpanView> pauses; ///< by begin; the parts of one pause joined
};

/// A stretch of wall clock, microseconds since 1970.
struct TimeWindow {
    double fromUs = 0;
    double toUs = 0;

    double lengthUs() const { return toUs - fromUs; }
    bool operator==(const TimeWindow&) const = default;
};

struct TimelineModel {
    app::TimelineView view; ///< of the steps that are shown
    app::TimelineView clock; ///< of those in the lanes: fewer, around B, where many are shown
    StepRange steps { 0, 0 };
    StepRange clockSteps { 0, 0 };
    std::vector<BarSlot> syncs; ///< by step
    std::vector<std::string> replicas;
    std::string actor; ///< whose bars are shown; empty: the slowest of each step
    std::vector<Lane> lanes; ///< publishers, the bucket, replicas
    std::optional<TimeWindow> clockExtent; ///< nothing without spans and publications
    std::vector<PhaseGroup> groups; ///< that are to be seen

    const app::BarView* barOf(std::int64_t step) const; ///< null: none
    /// Of all that was done for a step, with some time around it.
    std::optional<TimeWindow> extentOf(std::int64_t step) const;
    /// The same of the newest step in the lanes that has a sync.
    std::optional<TimeWindow> newestWindow() const;
    /// The newest step up to this one that has a bar.
    std::optional<std::int64_t> reportedUpTo(std::int64_t step) const;
};
using TimelinePointer = std::shared_ptr<const TimelineModel>;

struct TimelineRequest {
    RunPointer run; ///< with a run
    int epoch = 0;
    StepRange steps { 0, 0 };
    std::int64_t b = 0;
    std::string actor;
};
/// Pure; any thread.
TimelinePointer makeTimelineModel(const TimelineRequest& request);

} // namespace deltascope::desktop
