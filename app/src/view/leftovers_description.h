#pragma once

#include "deltascope/app/leftovers.h"

#include "io/forms.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const LeftoverView& leftover)
{
    io.type("Leftover", "A hidden folder that a rebuild left when it was stopped or killed.");
    io("path", leftover.path);
    io("destination", leftover.destination, "folder that it would have become");
    io("bytes", leftover.bytes, "of its files");
    io("process", nullAs(0, leftover.process, leftover.process <= 0), "that made it; null: several share it");
    io("shared", leftover.shared, "of a rebuild in parts");
    io("at_work", leftover.atWork, "a process works in it");
}

template <class Io> void describe(Io& io, const LeftoversView& view)
{
    io.type("Leftovers", "Those that lie in one folder.");
    io("folder", view.folder);
    io("leftovers", view.leftovers, "in order of names");
}

} // namespace deltascope::app
