#pragma once

#include "run_description.h"

namespace deltascope::app {

// What the changes of a followed run (SnapshotChanges) hold beside values that other answers hold, too.

/// The run without its lists.
template <class Io> void describeRunHead(Io& io, Of<Io, RunView>& run)
{
    io("rev", run.revision);
    io("settled", run.settled);
    io("source", run.source);
    io("layout", run.layout);
    io("run", run.run);
    io("base", run.base);
    if (io.has("base_bytes")) // a server of an earlier version does not send these three
        io("base_bytes", run.baseBytes);
    io("latest", run.latest);
    io("noop_rate", run.noopRate);
    io("ignored_objects", run.ignoredObjects);
    if (io.has("store_meter"))
        io("store_meter", run.meter);
    if (io.has("listed_us"))
        io("listed_us", nullIfEmpty(run.listedUs));
    io("wire_bytes", run.wireBytes);
}

/// A hole says here why nothing can be rebuilt in it.
template <class Io> void describeCopiedStep(Io& io, Of<Io, StepView>& step)
{
    describe(io, step);
    if (step.state == "gap" && io.has("reason"))
        io("reason", step.restore.reason);
}

} // namespace deltascope::app
