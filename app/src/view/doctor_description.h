#pragma once

#include "deltascope/app/view/operation_view.h"

#include "io/forms.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const CheckView& check)
{
    io.type("Check", "One thing that the program needs.");
    io("name", check.name);
    io("ok", check.ok);
    io("essential", check.essential, "false: a failure is only worth knowing");
    io("detail", check.detail);
}

template <class Io> void describe(Io& io, const DoctorView& doctor)
{
    io.type("Doctor", "Whether the program can do its work here.");
    io("ok", doctor.ok);
    io("checks", doctor.checks);
}

} // namespace deltascope::app
