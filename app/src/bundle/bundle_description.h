#pragma once

#include "bundle.h"
#include "view/io/forms.h"

namespace deltascope::bundle {

template <class Io> void describe(Io& io, const BundleView& bundle)
{
    io.type("Bundle", "What came of an export.");
    io("path", bundle.path);
    io("bytes", bundle.bytes);
    io("steps", bundle.steps);
    io("left_out", bundle.leftOut, "parts of sentences");
}

} // namespace deltascope::bundle
