#pragma once

#include "reads_description.h"
#include "verify_description.h"

namespace deltascope::app {

inline constexpr WordSet KindsOfState { "", { "served", "trained" } };

template <class Io> void describe(Io& io, Of<Io, MaterializeView>& made)
{
    io.type("MaterializeReport", "The checkpoint that was made of a step.");
    io("step", made.step);
    if (io.has("chosen")) // a server of an earlier version does not write it
        io("chosen", nullIfEmpty(made.chosen), "which step `latest` has meant, where a higher number exists");
    io("path", made.path);
    io("bytes", made.bytes);
    io("root", nullIfEmpty(made.root));
    io("tensors", made.tensors);
    io("resumed_bytes", made.resumedBytes);
    io("digests_checked", made.digestsChecked);
    io("coverage", made.coverage);
    io("proven", made.proven, "no missing number on the way");
    io("loss_proven", made.lossProven, "rebuilt although a delta on the way is proven to be lost");
    io("lossy", made.lossy, "a delta on the way adds rounded differences");
    io("state", nullIfEmpty(made.state, KindsOfState), "which one, where both are known to differ");
    io("states_differ_elems", made.statesDiffer);
    io("committed", made.committed, "false for one part of a shared rebuild");
    io("sidecars", made.sidecars);
    io("left_out", made.leftOut, "files of the trainer beside the checkpoint that the rebuild began with");
    if (io.has("trainer_files")) { // a server of an earlier version writes neither
        io("trainer_files", made.trainerFiles, "of the step, copied for training");
        io("missing", made.missing, "what training resumes with and the source does not have of the step");
    }
    describeReads(io, made.reads);
    io("seconds", made.seconds);
}

} // namespace deltascope::app
