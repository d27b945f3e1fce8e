#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/act_words.h"

#include "problem_description.h"
#include "step_description.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, PlannedObjectView>& object)
{
    io.type("PlannedObject", "An object that an act reads, writes or deletes.");
    io("store", nullIfEmpty(object.store), "address; null: that of the run");
    io("key", object.key);
    io("bytes", object.bytes, "0: not known before it is written, or nothing but headers is read");
}

template <class Io> void describe(Io& io, Of<Io, ActPlanView>& plan)
{
    io.type("ActPlan", "The exact plan of an act.");
    io("kind", plan.kind);
    io("hash", plan.hash);
    io("reads", plan.reads);
    io("read_bytes", plan.readBytes);
    io("writes", plan.writes);
    io("deletes", plan.deletes);
    io("beside", byName(plan.beside), "objects beside the run, by what they are for: how many");
    io.computed(
        "beside_text", [&] { return besideWords(plan); }, "the same in words");
    io("effects", byName(plan.effects), "what is different behind it");
    io("warnings", plan.warnings);
    io("unknown", plan.unknown, "what cannot be known before");
    io("undo", nullIfEmpty(plan.undo), "kind of the act that takes it back");
}

template <class Io> void describe(Io& io, Of<Io, ChangedTensorView>& tensor)
{
    io.type("ChangedTensor", "Elements of one tensor that an act changes.");
    io("name", tensor.name);
    io("elems", tensor.elements);
    io("changed_elems", tensor.changed);
}

template <class Io> void describe(Io& io, Of<Io, RollBackView>& view)
{
    io.type("RollBackReport", "What came of a roll back.");
    io("source", view.source);
    io("from", view.from, "newest step when it was planned");
    io("to", view.to, "step whose state is published again");
    io("step", view.step, "that it is published as");
    io("done", view.isDone);
    io("was_there", view.wasThere, "the newest step has that state already; nothing was written");
    const Variant planned { "PlannedRollBack", "A roll back that is planned, as the command line writes it.", "" };
    const auto plan = [&](auto& out) {
        out("evidence", view.evidence, "what verify says of the state that is published again");
        out("changed_elems", view.changedElements);
        out("total_elems", view.totalElements);
        out("changed_tensors", view.changedTensors);
        out("tensors", view.tensors, "those with the largest changed share, at most 256");
        out("plan", view.plan);
    };
    if (io.variant(!view.isDone, planned, plan))
        return;
    io("changed_elems", view.changedElements);
    io("keys", view.keys, "written");
}

template <class Io> void describe(Io& io, Of<Io, BranchView>& view)
{
    io.type("BranchReport", "What came of a branch.");
    io("source", view.source);
    io("into", view.into, "address of the new run");
    io("from", view.from, "step whose state it begins with");
    io("step", view.step, "its first one");
    io("done", view.isDone);
    io("was_there", view.wasThere, "the new run was there already; nothing was written");
    const Variant planned { "PlannedBranch", "A branch that is planned, as the command line writes it.", "" };
    const auto plan = [&](auto& out) {
        out("evidence", view.evidence, "what verify says of that state");
        out("state_bytes", view.stateBytes);
        out("plan", view.plan);
    };
    if (io.variant(!view.isDone, planned, plan))
        return;
    io("keys", view.keys, "written");
}

template <class Io> void describe(Io& io, Of<Io, DiscardedView>& leftover)
{
    io.type("Discarded", "A hidden folder that a stopped rebuild left, in a plan or in what came of it.");
    io("path", leftover.path);
    io("destination", leftover.destination, "folder that it would have become");
    io("bytes", leftover.bytes, "of its files, where the plan removes it");
    io("planned", leftover.planned, "the plan removes it");
    io("removed", leftover.removed);
    io("problem", leftover.problem, "why it stays");
}

template <class Io> void describe(Io& io, Of<Io, DiscardView>& view)
{
    io.type("DiscardReport", "What came of a discard.");
    io("folder", view.folder, "that the leftovers lie in");
    io("leftovers", view.leftovers, "in order of names");
    io("done", view.isDone);
    const Variant planned { "PlannedDiscard", "A discard that is planned, as the command line writes it.", "" };
    io.variant(!view.isDone, planned, [&](auto& out) { out("plan", view.plan); });
}

} // namespace deltascope::app
