#pragma once

#include "deltascope/app/view/task_view.h"

#include "act_description.h"

namespace deltascope::app {

inline constexpr WordSet PlanStates { "PlanState", { "planning", "ready", "failed" } };

template <class Io> void describe(Io& io, Of<Io, PlanStepView>& step)
{
    io.type("PlanStep", "Something that an act reads or writes.");
    io("text", step.text);
    io("bytes", step.bytes);
}

template <class Io> void describe(Io& io, Of<Io, PlanFactView>& fact)
{
    io.type("PlanFact", "Something about what an act would do.");
    io("label", fact.label);
    io("text", fact.text);
}

template <class Io> void describe(Io& io, Of<Io, PlanView>& plan)
{
    io.type("Plan", "What an act would do. Never acts. While it is planning, title and progress alone are known.");
    const bool isWhole = io.has("state"); // records and servers of earlier versions tell less
    io("id", plan.id);
    io("hash", plan.hash);
    io("kind", plan.kind);
    io("run", plan.run);
    if (isWhole) {
        io("state", word(plan.state, PlanStates));
        io("phase", plan.phase, "of planning");
        io("done", plan.doneBytes, "bytes of this phase");
        io("total", plan.totalBytes, "0: not known");
        io("problem", plan.problem, "of state failed");
    }
    io("title", plan.title);
    io("cli", plan.cli);
    if (isWhole)
        io("facts", plan.facts);
    io("steps", plan.steps, "what is read and written, in order");
    io("read_bytes", plan.readBytes);
    io("write_bytes", plan.writeBytes);
    io("free_bytes", plan.freeBytes, "where it would be written");
    io("destination", nullIfEmpty(plan.destination));
    io("warnings", plan.warnings);
    if (isWhole) {
        io("act", plan.act, "every object that it reads, writes or deletes; of state ready");
        io("changes", plan.changes, "those with the largest changed share, at most 256");
        io("confirm", nullIfEmpty(plan.confirm), "to be typed before it is carried out");
        io("undo", nullIfEmpty(plan.undo), "kind of the act that takes it back");
    }
    io.computed(
        "requires", [] { return std::vector<std::string> { "act" }; }, "scopes of a token");
}

} // namespace deltascope::app
