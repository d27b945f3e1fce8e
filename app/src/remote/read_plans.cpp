#include "remote/read_views.h"

// What an act would do, and what acts on runs have done.

namespace deltascope::app {

namespace {

PlannedObjectView readPlanned(const json& from)
{
    return { readText(from, "store"), read<std::string>(from, "key"), read<std::uint64_t>(from, "bytes") };
}

std::vector<std::pair<std::string, std::string>> readPairs(const json& from, const char* key)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [name, value] : fieldOf(from, key).items())
        pairs.emplace_back(name, valueOf<std::string>(value, key));
    return pairs;
}

ActPlanView readActPlan(const json& from)
{
    ActPlanView plan;
    plan.kind = read<std::string>(from, "kind");
    plan.hash = read<std::string>(from, "hash");
    plan.reads = readEach(from, "reads", readPlanned);
    plan.readBytes = read<std::uint64_t>(from, "read_bytes");
    plan.writes = readEach(from, "writes", readPlanned);
    plan.deletes = readEach(from, "deletes", readPlanned);
    plan.beside = readPairs(from, "beside");
    plan.effects = readPairs(from, "effects");
    plan.warnings = readEach(from, "warnings", readAs<ProblemView>);
    plan.unknown = readList<std::string>(from, "unknown");
    plan.undo = readText(from, "undo");
    return plan;
}

ChangedTensorView readChanged(const json& from)
{
    return { read<std::string>(from, "name"), read<std::uint64_t>(from, "elems"),
             read<std::uint64_t>(from, "changed_elems") };
}

}

RollBackView readRollBack(const json& from)
{
    RollBackView view;
    view.source = read<std::string>(from, "source");
    view.from = read<std::int64_t>(from, "from");
    view.to = read<std::int64_t>(from, "to");
    view.step = read<std::int64_t>(from, "step");
    view.isDone = read<bool>(from, "done");
    view.wasThere = read<bool>(from, "was_there");
    view.changedElements = read<std::uint64_t>(from, "changed_elems");
    if (view.isDone) {
        view.keys = readList<std::string>(from, "keys");
        return view;
    }
    view.evidence = read<std::string>(from, "evidence");
    view.totalElements = read<std::uint64_t>(from, "total_elems");
    view.changedTensors = read<std::uint64_t>(from, "changed_tensors");
    view.tensors = readEach(from, "tensors", readChanged);
    view.plan = readActPlan(fieldOf(from, "plan"));
    return view;
}

PlanView readPlan(const json& from)
{
    PlanView plan;
    plan.id = read<std::string>(from, "id");
    plan.hash = read<std::string>(from, "hash");
    plan.kind = read<std::string>(from, "kind");
    plan.run = read<std::string>(from, "run");
    plan.title = read<std::string>(from, "title");
    plan.cli = read<std::string>(from, "cli");
    plan.steps = readEach(from, "steps", [](const json& step) {
        return PlanStepView { read<std::string>(step, "text"), read<std::uint64_t>(step, "bytes") };
    });
    plan.readBytes = read<std::uint64_t>(from, "read_bytes");
    plan.writeBytes = read<std::uint64_t>(from, "write_bytes");
    plan.freeBytes = readOptional<std::uint64_t>(from, "free_bytes");
    plan.destination = readText(from, "destination");
    plan.warnings = readList<std::string>(from, "warnings");
    if (!from.contains("state")) // of a server, or a record, of an earlier version
        return plan;
    plan.state = read<std::string>(from, "state");
    plan.phase = read<std::string>(from, "phase");
    plan.doneBytes = read<std::uint64_t>(from, "done");
    plan.totalBytes = read<std::uint64_t>(from, "total");
    if (const json& problem = fieldOf(from, "problem"); !problem.is_null())
        plan.problem = readAs<ProblemView>(problem);
    plan.facts = readEach(from, "facts", [](const json& fact) {
        return PlanFactView { read<std::string>(fact, "label"), read<std::string>(fact, "text") };
    });
    if (const json& act = fieldOf(from, "act"); !act.is_null())
        plan.act = readActPlan(act);
    plan.changes = readEach(from, "changes", readChanged);
    plan.confirm = readText(from, "confirm");
    plan.undo = readText(from, "undo");
    return plan;
}

} // namespace deltascope::app
