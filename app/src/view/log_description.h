#pragma once

#include "deltascope/app/view/log_view.h"

#include "run_description.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const StepChangeView& change)
{
    io.type("StepChange", "What a step changed, against the state before it; null: not known, or there is none.");
    io("epoch", change.epoch);
    io("step", change.step);
    io("changed_elems", change.elements);
    io("changed_bytes", change.bytes, "of these elements");
    io("changed_tensors", change.tensors, "that hold one of them");
    io("unlike_tensors", change.unlike,
       "of checkpoints: that one of both does not hold, or of another type or shape; none of their elements counts");
    io("not_compared", nullIfEmpty(change.why), "of checkpoints: why");
}

template <class Io> void describe(Io& io, const RunPlaceView& run)
{
    io.type("RunPlace", "One of several runs below an address.");
    io("place", run.place, "folder below the address, or what the names of its versions begin with");
    io("is_folder", run.isFolder);
    io("steps", run.steps);
    io("first", run.first);
    io("latest", run.latest, "its highest step");
    io("shown", run.shown);
}

template <class Io> void describe(Io& io, const ComparisonView& comparison)
{
    io.type("Comparison", "How many plain checkpoints were compared with the one before each.");
    io("compared", comparison.compared);
    io("known", comparison.known, "of these, from an earlier look at the same objects");
    io("pairs", comparison.pairs, "checkpoints with one before them");
    io("read_bytes", comparison.readBytes, "now");
    io("most_bytes", comparison.mostBytes, "limit on it where nobody said how many to compare");
}

struct LogSelectionView {
    std::vector<std::string> globs;
    std::uint32_t tensors = 0;
    std::uint32_t tensorsInAll = 0;
    std::uint64_t elements = 0;
};

template <class Io> void describe(Io& io, const LogSelectionView& selection)
{
    io.type("LogSelection", "The tensors that a log is about, in the newest state.");
    io("tensor_globs", selection.globs);
    io("tensors", selection.tensors, "that the globs mean");
    io("tensors_in_all", selection.tensorsInAll);
    io("elements", selection.elements, "of the tensors that they mean");
}

template <class Io> void describe(Io& io, const LogView& log)
{
    std::optional<LogSelectionView> selection;
    if (!log.globs.empty())
        selection = { log.globs, log.tensors, log.tensorsInAll, log.elements };
    io.type("Log", "The history of a run, and what its steps changed in some tensors.");
    describe(io, log.run);
    io("runs", absentIfEmpty(log.run.runs), "all that lie below the address, where there are several");
    io("selection", absentIfEmpty(selection), "absent: all tensors");
    io("comparison", absentIfEmpty(log.comparison), "of a run of plain checkpoints");
    io("changes", absentIfEmpty(log.changes), "as the steps, where there is a selection or a comparison");
}

} // namespace deltascope::app
