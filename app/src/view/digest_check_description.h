#pragma once

#include "diff_description.h"
#include "reads_description.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const DigestCheckView& check)
{
    io.type("DigestCheck", "How the tensors of a state compare with digests that were taken elsewhere.");
    io("equal", check.equal, "in names, dtypes, shapes and digests");
    io("chosen", nullIfEmpty(check.chosen), "which step `latest` has meant, where a higher number exists");
    io("tensors_compared", check.tensorsCompared);
    io.computed(
        "nothing_compared", [&] { return textOrNull(nothingComparedText(check)); }, "why; null: something was");
    io("by_sha256", check.bySha256, "of them; the others by XXH3-128 alone");
    io("bytes_hashed", check.bytesHashed);
    io("different", check.different, "tensors with other digests");
    io("only_in_state", check.onlyInState);
    io("only_in_document", check.onlyInDigests);
    io("changed_dtype_or_shape", check.reshaped, "not compared; A is the state, B the document");
    io("form_differences", check.forms, "what was taken out of account before tensors were compared");
    describeReads(io, check.reads);
    io("seconds", check.seconds);
}

} // namespace deltascope::app
