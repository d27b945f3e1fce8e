#pragma once

#include "deltascope/app/view/run_view.h"

#include "step_description.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const PublishView& published)
{
    io.type("PublishReport", "What publishing has added to a run.");
    io("source", published.source, "URI");
    io("layout", published.layout);
    io("steps", published.steps, "the newest ones");
    io("steps_in_all", published.stepsInAll);
    io("nothing_changed", published.nothingChanged, "last time, and the layout has no form for an empty step");
    io("notices", published.notices, "the newest");
    io("rewritten", published.reads.rewritten,
       "keys of objects that were rewritten since they were first seen, and accepted");
    io("seconds", published.seconds);
}

} // namespace deltascope::app
