#pragma once

#include "deltascope/app/view/touched_view.h"

#include "io/forms.h"

namespace deltascope::app {

// Written alone, as in summary_description.h.

template <class Io> void describe(Io& io, const TouchedTensorView& tensor)
{
    io.type("TouchedTensor", "A tensor that the deltas between two steps touch.");
    io("name", tensor.name);
    io("elements", tensor.elements);
    io("touched_at_most", tensor.atMost, "an element that changes twice counts twice");
}

template <class Io> void describe(Io& io, const TouchedView& touched)
{
    io.type("Touched", "What the deltas between two steps of one chain touch, by counts alone: an upper bound.");
    io("rev", touched.revision);
    io("a", touched.a, "the older step");
    io("b", touched.b);
    io("elements_at_most", touched.elementsAtMost);
    io("elements_total", touched.elementsTotal);
    io("tensors", touched.tensors, "that are touched, most elements first");
}

} // namespace deltascope::app
