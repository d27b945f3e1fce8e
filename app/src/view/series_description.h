#pragma once

#include "deltascope/app/view/series_view.h"

#include "io/forms.h"

namespace deltascope::app {

// Written alone, as in summary_description.h.

template <class Io> void describe(Io& io, const SeriesColumns& columns)
{
    io.type("SeriesColumns",
            "One line of a chart: an entry for each bucket of pixels that has a value, ascending. first and last keep "
            "lines true where a bucket holds many.");
    io("x", columns.x, "step of the last value in the bucket");
    io("first", columns.first);
    io("min", columns.min);
    io("max", columns.max);
    io("last", columns.last);
}

template <class Io> void describe(Io& io, const SeriesView& view)
{
    io.type("Series", "Lines by name: changed_frac changed_elems wire_bytes pause_ms interval_s sync_ms drift_elems.");
    io("rev", view.revision);
    io("epoch", view.epoch);
    io("from", view.from);
    io("to", view.to);
    io("points", view.points, "steps in the range");
    io("series", byName(view.series));
    io("anchors", view.anchors, "steps in the range");
}

} // namespace deltascope::app
