#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/verified_view.h"

#include "problem_description.h"
#include "times.h"

namespace deltascope::app {

inline constexpr WordSet StepKinds { "StepKind", { "anchor", "partial_anchor", "delta", "gap" } };
inline constexpr WordSet StepStates { "StepState", { "complete", "publishing", "broken", "noop", "gap" } };
inline constexpr WordSet VerifyResults {
    "VerifyResult", { "verified", "consistent", "first_sight", "unverified", "incomplete", "damaged" }
};
/// What vouches for a state.
inline constexpr WordSet Evidences { "", { "digest", "root", "anchor", "weak", "base", "first_sight", "none" } };

template <class Io> void describe(Io& io, Of<Io, RestoreView>& restore)
{
    io.type("Restore", "What it takes to rebuild a step.");
    io("deltas", restore.deltas);
    io("bytes", restore.bytes, "objects to be read");
    io("blocked_by", restore.blockedBy, "the step that it builds on and whose fault it is");
    io("reason", nullIfEmpty(restore.reason), "why it is not possible");
}

template <class Io> void describe(Io& io, Of<Io, ObjectView>& object)
{
    io.type("ObjectInfo", "An object of the source.");
    io("key", object.key);
    io("size", object.sizeBytes);
    io("modified_at", object.modifiedUs);
}

template <class Io> void describe(Io& io, Of<Io, FormView>& form)
{
    io.type("Form", "One way to have a step.");
    io("name", form.name);
    io("kind", word(form.kind, StepKinds));
    io("base_step", form.baseStep, "null: complete by itself");
    io("wire_bytes", form.wireBytes);
    io("restore", form.restore, "of the step over it");
    io("evidence", word(form.evidence, Evidences), "what vouches for the whole way");
    io("used", form.isUsed);
    io("state", either(form.isTrained, "trained", "served"));
    io("copy", form.isCopy, "objects of another form once more, in a mirror");
}

template <class Io> void describe(Io& io, Of<Io, VerifiedView>& verified)
{
    io.type("Verified", "The deepest verification of a step in this daemon.");
    io("level", verified.level);
    io("result", word(verified.result, VerifyResults));
    io("t_us", verified.tUs);
    if (io.has("problem")) // bundles of version 2 have none
        io("problem", verified.problem);
}

template <class Io> void describeStepHead(Io& io, Of<Io, StepView>& step)
{
    io("epoch", step.epoch);
    io("step", step.step);
    io("kind", word(step.kind, StepKinds));
    io("state", word(step.state, StepStates));
}

/// What a step has and a hole in the numbers has not.
template <class Io> void describeVersion(Io& io, Of<Io, StepView>& step)
{
    io("name", step.name, "file or folder that stands for the version");
    io("base_step", step.baseStep);
    io("changed_elems", step.changedElements, "null until it was replayed");
    io("changed_vs_prev_elems", step.changedVsPrevious);
    io("total_elems", step.totalElements);
    io("changed_frac", step.changedFraction, "0…1");
    io("claimed_elems", step.claimedElements, "what the header says is stored; a claim");
    io("wire_bytes", step.wireBytes);
    io("published_at", step.publishedUs);
    io.expect(step.publishedUs >= -FarthestUs && step.publishedUs <= FarthestUs, "\"published_at\" is no time");
    io("pause_ms", step.pauseMs, "how long the engine stood still to load it");
    io("spans_from", eitherIf(step.pauseMs.has_value(), step.pauseIsLogged, "logs", "spans"));
    io("restorable", step.restorable);
    io("proven", step.proven, "false across a missing number that nothing disproves");
    io("restore", step.restore);
    io("objects", step.objects);
    if (io.has("forms"))
        io("forms", step.forms, "in a run only where there are several; its own objects first");
    io("problems", step.problems);
    io("id", absentIfEmpty(step.id), "what its publisher calls it; absent: its number");
    io("refs", absentIfEmpty(step.refs), "words that people gave it: \"good\", \"pin/good\"; absent: none");
    io("restores", absentIfEmpty(step.restores), "earlier step whose state it has again; absent: none");
    io("branch_of", absentIfEmpty(step.branchOf), "run and step that this run begins with; absent: none");
    io("role", absentIfEmpty(step.role),
       "of the model beside the checkpoints of steps: \"final_save\", \"older_model\"; absent: it is a step");
}

template <class Io> void describe(Io& io, Of<Io, StepView>& step)
{
    io.type("BareStep", "A step as `log --json` writes it.");
    describeStepHead(io, step);
    const Variant gap { "Gap", "A hole in the numbers: `step` is the first missing one.", "gap" };
    if (!io.variant(step.state == gap.word, gap, [&](auto& hole) { hole("last_step", step.lastMissing); }))
        describeVersion(io, step);
}

template <class Io> void describeVerified(Io& io, const std::optional<VerifiedView>& verified)
{
    io("verified", verified, "null: not checked in this daemon");
}

/// A step with what is known of it, as the HTTP API writes it.
struct CheckedStepView {
    const StepView& step;
    const std::optional<VerifiedView>& verified;
};

template <class Io> void describe(Io& io, const CheckedStepView& checked)
{
    io.type("Step", "A published version.");
    describe(io, checked.step);
    if (checked.step.state != "gap")
        describeVerified(io, checked.verified);
}

} // namespace deltascope::app
