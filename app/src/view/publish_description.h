#pragma once

#include "deltascope/app/view/run_view.h"

#include "act_description.h"
#include "step_description.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, PublishView>& published)
{
    io.type("PublishReport", "What publishing has added to a run.");
    io("source", published.source, "URI");
    io("layout", published.layout);
    io("done", published.isDone);
    io("notices", published.notices, "the newest");
    const Variant planned { "PlannedPublication", "A step that would be published, as the command line writes it.",
                            "" };
    const auto plan = [&](auto& out) {
        out("newest", published.newest, "step before it; null: the run is empty");
        out("state_bytes", published.stateBytes);
        out("plan", published.plan);
    };
    if (io.variant(!published.isDone, planned, plan))
        return;
    io("steps", published.steps, "the newest ones");
    io("steps_in_all", published.stepsInAll);
    io("nothing_changed", published.nothingChanged, "last time, and the layout has no form for an empty step");
    io("rewritten", published.reads.rewritten,
       "keys of objects that were rewritten since they were first seen, and accepted");
    io("seconds", published.seconds);
}

} // namespace deltascope::app
