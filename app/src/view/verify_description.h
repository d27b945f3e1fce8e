#pragma once

#include "deltascope/app/view/operation_view.h"

#include "problem_description.h"
#include "step_description.h"

namespace deltascope::app {

inline constexpr WordSet HealthsOfValues { "", { "normal", "suspect" } };

template <class Io> void describe(Io& io, Of<Io, CoverageView>& coverage)
{
    io.type("Coverage", "How many tensors of a state have which evidence.");
    io("tensors", coverage.tensors);
    io("digest", coverage.digest);
    io("root", coverage.root);
    io("anchor", coverage.anchor);
    io("base", coverage.base);
    io("weak", coverage.weak);
    io("first_sight", coverage.firstSight);
    io("none", coverage.none);
    io("weakest", coverage.weakest, "at most ten names, those with the least evidence first");
    io.computed("text", [&] { return coverageText(coverage); });
}

template <class Io> void describe(Io& io, Of<Io, StoreDigestsView>& digests)
{
    io.type("StoreDigests", "Objects that were read whole, by what the store's own digest says of them.");
    io("equal", digests.equal);
    io("not_compared", digests.uncompared, "not with all of their bytes");
    io("none", digests.none, "the store keeps no digest of them");
    io.computed("text", [&] { return storeDigestsText(digests); });
}

template <class Io> void describe(Io& io, Of<Io, ConsistentToView>& epoch)
{
    io.type("ConsistentTo", "Up to which step all of an epoch is verified or consistent.");
    io("epoch", epoch.epoch);
    io("step", epoch.step, "null: up to none");
}

template <class Io> void describe(Io& io, Of<Io, StepVerdictView>& step)
{
    io.type("StepVerdict", "What a verification says of one step.");
    io("epoch", step.epoch);
    io("step", step.step);
    io("result", word(step.result, VerifyResults));
    io("health", nullIfEmpty(step.health, HealthsOfValues), "of its values, beside the verdict on its bytes");
    io("digests_checked", step.digestsChecked, "of tensors that this step changes");
    io("coverage", step.coverage, "from level 3 on, of steps that can be rebuilt");
    io("root", nullIfEmpty(step.root), "at level 4: strong DSM1 root, of anchors and the last step");
    io("anchor_differs_elems", step.anchorDifference, "of an anchor: from the replay before it");
    io("zero_sign_elems", step.zeroSigns, "of these, in the sign of zero alone");
    io("missed_elems", step.missed, "of the others, those that a writer that compares low bytes has missed");
    io("drift_elems_estimate", step.driftEstimate, "of the others, more than a usual delta explains");
    io("problems", step.problems);
}

template <class Io> void describe(Io& io, Of<Io, VerifyView>& report)
{
    io.type("VerifyReport", "What a verification has found.");
    io("source", report.source);
    io("level", report.level);
    io("result", word(report.result, VerifyResults));
    io("consistent_to", report.consistentTo, "from level 3 on");
    io.computed(
        "on_base_alone", [&] { return textOrNull(baseAloneText(report)); }, "tensors that are only as in the base");
    if (io.has("store_digests"))
        io("store_digests", report.storeDigests, "from level 2 on, of remote sources");
    io("steps", report.steps);
    io("rewritten", report.rewritten, "keys of objects that were rewritten since they were first seen, and accepted");
    io("problems", report.problems);
    io("seconds", report.seconds);
}

} // namespace deltascope::app
