#pragma once

#include "deltascope/app/view/lineage_view.h"

#include "step_description.h"

namespace deltascope::app {

// Written alone, as in summary_description.h.

template <class Io> void describe(Io& io, const LineageFormView& form)
{
    io.type("LineageForm", "One way to have a row.");
    io("complete", form.complete, "it builds on nothing");
    io("base", form.base, "index of the row that it builds on");
    io("used", form.isUsed);
    io("usable", form.isUsable);
}

template <class Io> void describe(Io& io, const LineageRowView& row)
{
    static const StepView none;
    const StepView& step = row.step ? *row.step : none;
    const bool isGap = step.state == "gap";
    const ProblemView* const worst = gravest(step.problems);
    const std::optional<ProblemView> problem = worst ? std::optional(*worst) : std::nullopt;
    io.type("LineageRow", "A version, or a hole in the numbers.");
    io("epoch", step.epoch);
    io("step", step.step);
    io("kind", word(step.kind, StepKinds));
    io("state", word(step.state, StepStates));
    io("lane", row.lane);
    io("base", row.base, "index of the row it builds on");
    io("chain", row.chain, "steps of one chain share it");
    io("published_at", nullAs(0, step.publishedUs, isGap));
    io("last_step", nullAs(0, step.lastMissing, !isGap), "of a gap");
    io("wire_bytes", step.wireBytes);
    io("changed_frac", step.changedFraction);
    io("restorable", step.restorable);
    io("proven", step.proven);
    io("verified", row.verified);
    io("restore", nullAs({}, step.restore, isGap));
    io("forms", row.forms, "empty for a single one");
    io("problem", problem, "the first one that is no notice, else the first notice");
    io("refs", row.refs, "latest, …");
    io("surviving", row.lane == 0 || step.restorable,
       "false for steps of an epoch that was overwritten and cannot be rebuilt");
    io("restores", absentIfEmpty(step.restores), "as that of a step");
    io("branch_of", absentIfEmpty(step.branchOf), "likewise");
    io("role", absentIfEmpty(step.role), "likewise");
}

template <class Io> void describe(Io& io, const LineageView& lineage)
{
    io.type("Lineage", "How versions build on each other.");
    io("rev", lineage.snapshot ? lineage.snapshot->revision : 0);
    io("lanes", lineage.lanes);
    io("rows", lineage.rows, "newest first");
}

} // namespace deltascope::app
