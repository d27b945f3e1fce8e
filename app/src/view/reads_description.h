#pragma once

#include "deltascope/app/view/reads_view.h"

#include "problem_description.h"

namespace deltascope::app {

/// Inside the value that reports it. A server of an earlier version does not write it.
template <class Io> void describeReads(Io& io, Of<Io, ReadsView>& reads)
{
    if (io.has("rewritten"))
        io("rewritten", reads.rewritten,
           "keys of objects that were rewritten since they were first seen, and accepted");
    if (io.has("notices"))
        io("notices", reads.notices, "objects that could not be compared with what is on record of them");
}

} // namespace deltascope::app
