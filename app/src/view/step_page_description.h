#pragma once

#include "run_description.h"

namespace deltascope::app {

// Written alone: clients in C++ follow the steps of a run by its snapshot.

struct StepRowView {
    StepView step;
    std::optional<VerifiedView> verified;
};

template <class Io> void describe(Io& io, const StepRowView& row)
{
    describe(io, CheckedStepView { row.step, row.verified });
}

struct StepPageView {
    std::uint64_t revision = 0;
    std::vector<int> epochs;
    std::vector<StepRowView> steps;
    std::string nextCursor; ///< empty: this was the last page
};

template <class Io> void describe(Io& io, const StepPageView& page)
{
    io.type("StepPage", "Steps of a run.");
    io("rev", page.revision);
    io("epochs", page.epochs, "all of the run");
    io("steps", page.steps, "ascending by epoch, then step");
    io("next_cursor", nullIfEmpty(page.nextCursor), "null: this was the last page");
}

struct StepCommandsView {
    std::string show, verify, materialize;
};

template <class Io> void describe(Io& io, const StepCommandsView& commands)
{
    io.type("StepCommands", "Command lines for a step.");
    io("show", commands.show);
    io("verify", commands.verify);
    io("materialize", commands.materialize);
}

/// A step that is a version.
struct ShownStepView {
    StepView step;
    std::optional<VerifiedView> verified;
};

template <class Io> void describe(Io& io, const ShownStepView& shown)
{
    io.type("Step", "A published version.");
    describeStepHead(io, shown.step);
    describeVersion(io, shown.step);
    describeVerified(io, shown.verified);
}

/// A step, its tensors and what may be done with it.
struct StepSheetView {
    std::uint64_t revision = 0;
    ShownStepView shown;
    std::vector<TensorCountView> tensors;
    StepCommandsView commands;
};

template <class Io> void describe(Io& io, const StepSheetView& sheet)
{
    io.type("StepDetail", "A step, tensor by tensor.");
    io("rev", sheet.revision);
    io("step", sheet.shown);
    io("tensors", sheet.tensors, "of the state, by name; may be empty where the step cannot be replayed");
    io("cli", sheet.commands);
}

} // namespace deltascope::app
