#pragma once

#include "deltascope/app/view/listing_page.h"

#include "step_description.h"

namespace deltascope::app {

// Written alone: clients in C++ read the whole listing.

template <class Io> void describe(Io& io, const ListingRowView& row)
{
    io.type("ListingRow", "An object right below a prefix, or a folder.");
    io("key", row.key, "of a folder with the slash behind it");
    io("size", row.sizeBytes, "of a folder the sum of what is in it");
    io("modified_at", row.modifiedUs, "of a folder the newest");
    io("step", row.step);
    io("kind", nullIfEmpty(row.kind, StepKinds), "null: of no version");
    io("state", nullIfEmpty(row.state, StepStates));
    io("needed_by", row.neededBy, "steps that cannot be rebuilt any more without it; bundles of version 2 lack it");
    io("folder", row.folder);
}

template <class Io> void describe(Io& io, const ListingTotals& totals)
{
    io.type("ListingTotals", "Objects of a whole source.");
    io("anchors", totals.anchors);
    io("anchor_bytes", totals.anchorBytes);
    io("deltas", totals.deltas);
    io("delta_bytes", totals.deltaBytes);
    io("other", totals.other);
    io("other_bytes", totals.otherBytes);
}

template <class Io> void describe(Io& io, const ListingPage& page)
{
    io.type("ListingPage", "A part of what lies right below a prefix.");
    io("rev", page.revision);
    io("prefix", page.prefix);
    io("objects", page.rows, "folders and objects by key");
    io("next_cursor", nullIfEmpty(page.nextCursor), "null: this was the last page");
    io("totals", page.totals);
}

} // namespace deltascope::app
