#pragma once

#include "deltascope/app/view/run_view.h"

#include "annotations_description.h"
#include "step_description.h"
#include "trace_description.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, DriftView>& drift)
{
    io.type("DriftPoint", "How far trained and served state are apart at one step.");
    io("epoch", drift.epoch);
    io("step", drift.step);
    io("differs_elems", drift.differs);
    io("zero_sign_elems", drift.zeroSigns, "of these, in the sign of zero alone");
    io("estimate_elems", drift.estimate, "of these, beyond a usual step of training");
}

template <class Io> void describe(Io& io, Of<Io, StoreMeterView>& meter)
{
    io.type("StoreMeter", "What went between the server and an object store since it was opened.");
    io("source", meter.source);
    io("requests", meter.requests, "retries are some of them");
    io("retries", meter.retries);
    io("bytes_in", meter.bytesIn);
    io("bytes_out", meter.bytesOut);
    io("bytes_from_cache", meter.bytesFromCache);
}

template <class Io> void describe(Io& io, Of<Io, EpochView>& epoch)
{
    io.type("Epoch", "One incarnation of the trainer.");
    io("epoch", epoch.epoch);
    io("steps", epoch.steps, "ascending");
}

template <class Io> void describe(Io& io, Of<Io, RunView>& run)
{
    io.type("BareRun", "A run as `log --json` writes it.");
    io("source", run.source, "URI");
    io("layout", run.layout);
    io("run", run.run, "last component of the address");
    io("rev", run.revision);
    io("base", nullIfEmpty(run.base), "URI of the external base");
    io("base_bytes", run.baseBytes);
    io("latest", run.latest, "newest restorable step");
    io("wire_bytes", run.wireBytes);
    io("ignored_objects", run.ignoredObjects);
    io("store_meter", run.meter, "of an object store");
    io("listed_us", nullIfEmpty(run.listedUs), "when everything was last listed; null: at every look");
    io("epochs", run.epochs);
    io("problems", run.problems);
    io("events", run.events, "what happened to the source since it was first seen, oldest first");
    io("drift", run.drift);
    io("noop_rate", run.noopRate);
    io("replicas", run.replicas);
    io("notes", run.notes);
    io("refs", run.refs);
}

template <class Io> void describe(Io& io, Of<Io, TensorCountView>& tensor)
{
    io.type("TensorCount", "A tensor of a state, and what its step changes of it.");
    io("name", tensor.name);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("changed_elems", tensor.changedElements, "against the base; of an anchor all");
    io("changed_vs_prev_elems", tensor.changedVsPrevious, "against the state before");
    io("total_elems", tensor.totalElements);
}

template <class Io> void describe(Io& io, Of<Io, StepDetailView>& detail)
{
    io.type("BareStepDetail", "A step as `show --json` writes it.");
    describe(io, detail.step);
    io("chosen", nullIfEmpty(detail.chosen), "which step `latest` has meant, where a higher number exists");
    io("tensors", detail.tensors, "of the state, by name");
}

template <class Io> void describe(Io& io, Of<Io, ListingEntryView>& entry)
{
    io.type("ListingEntry", "An object, and the version that it belongs to.");
    describe(io, entry.object);
    io("step", entry.step, "null: of no version");
    io("kind", nullIfEmpty(entry.kind, StepKinds));
    if (io.has("needed_by")) // bundles of version 2 do not say it
        io("needed_by", entry.neededBy, "steps that cannot be rebuilt any more without it");
}

template <class Io> void describe(Io& io, Of<Io, ListingView>& listing)
{
    io.type("Listing", "All objects of a source.");
    io("source", listing.source, "URI");
    io("layout", nullIfEmpty(listing.layout), "null: it was not recognized");
    io("objects", listing.objects);
}

} // namespace deltascope::app
