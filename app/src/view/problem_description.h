#pragma once

#include "deltascope/app/view/problem.h"

#include "io/forms.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, ProblemView>& problem)
{
    io.type("Problem", "A problem, or an error.");
    io("code", problem.code, "\"DS-CHAIN-GAP\"");
    io("step", problem.step);
    io("where", problem.where, "object, file or source");
    io("text", problem.text);
    io("remedy", problem.remedy);
    io.computed(
        "notice", [&] { return isNotice(problem); }, "whether it is only worth knowing: nothing is wrong");
}

} // namespace deltascope::app
