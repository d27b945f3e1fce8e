#pragma once

#include "deltascope/app/view/trace_view.h"

#include "step_description.h"
#include "trace_description.h"

#include <cstdint>
#include <string>

namespace deltascope::app {

// Events of a run that hold one of its values. Written alone: clients follow a run by its snapshot. An event of the
// heatmap is HeatChange.

/// A step is new, or is not as it was.
struct StepChange {
    std::string run;
    std::uint64_t revision = 0; ///< of the run
    CheckedStepView step;
};

template <class Io> void describe(Io& io, const StepChange& change)
{
    io.type("StepChange", "A step of the run is new, or is not as it was.");
    io("run", change.run);
    io("rev", change.revision);
    io("step", change.step);
}

/// What is known of a replica now.
struct ReplicaChange {
    std::string run;
    std::uint64_t revision = 0; ///< of the run
    ReplicaHistoryView replica;
};

template <class Io> void describe(Io& io, const ReplicaChange& change)
{
    io.type("ReplicaChange", "What is known of a replica of the run now.");
    io("run", change.run);
    io("rev", change.revision);
    io("replica", change.replica);
}

/// Something happened in the run.
struct FeedChange {
    std::string run;
    FeedItemView item;
};

template <class Io> void describe(Io& io, const FeedChange& change)
{
    io.type("FeedChange", "Something happened in the run.");
    io("run", change.run);
    io("item", change.item);
}

} // namespace deltascope::app
