#pragma once

#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/summary_view.h"

#include "run_description.h"

namespace deltascope::app {

// What the changes of a followed run (SnapshotChanges) hold beside values that other answers hold, too.

/// What a snapshot says of its run, whether that is open or not.
template <class Io> void describeSnapshotHead(Io& io, Of<Io, RunSnapshot>& snapshot)
{
    io("name", snapshot.name);
    io("source", snapshot.source);
    io("base", snapshot.base);
    io("state", snapshot.state);
    if (io.has("opening")) // a server of an earlier version does not send it
        io("opening", snapshot.opening);
    io("error", snapshot.error);
    io("contact_us", snapshot.contactUs);
    io("demo", snapshot.demo);
    io("alerts_firing", snapshot.alertsFiring);
    io("worst_alert", snapshot.worstAlert);
}

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

/// A row of the heatmap; what changed in it comes apart, since that changes with each step.
template <class Io> void describe(Io& io, Of<Io, TensorRowView>& row)
{
    io("name", row.name);
    io("dtype", row.dtype);
    io("shape", row.shape);
    io("elements", row.elements);
    io("bytes", row.bytes);
    io("group", row.group);
}

/// A column, whose codes are text: one byte for each row, as base64.
struct CopiedColumn {
    HeatColumnView column; ///< without codes
    std::optional<std::string> codes; ///< nothing: unknown
};

template <class Io> void describe(Io& io, Of<Io, CopiedColumn>& copied)
{
    auto& column = copied.column;
    io("epoch", column.epoch);
    io("step", column.step);
    io("name", column.name);
    io("chain", column.chainKey);
    io("kind", column.kind);
    io("state", column.state);
    io("damaged", column.damaged);
    io("codes_b64", copied.codes);
}

/// Of each row of the heatmap.
struct HeatTotalsView {
    std::vector<std::uint64_t> changedElements;
    std::vector<std::optional<std::int64_t>> lastChanged;
};

template <class Io> void describe(Io& io, Of<Io, HeatTotalsView>& totals)
{
    io("changed_elems", totals.changedElements);
    io("last_changed", totals.lastChanged);
}

} // namespace deltascope::app
