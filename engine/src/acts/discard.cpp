#include "deltascope/engine/discard.h"

#include <fmt/format.h>
#include <numeric>

namespace deltascope {

namespace {

constexpr std::string_view DiscardKind = "discard";

/// Why a leftover that is meant stays; nothing: it goes.
std::optional<Error> reasonToKeep(const Leftover& leftover, const DiscardChoice& choice)
{
    if (leftover.atWork)
        return Error { Code::Exists, "a process is at work in it, so it stays", leftover.path, std::nullopt,
                       "wait for that process or stop it" };
    if (leftover.shared && !choice.alsoShared)
        return Error { Code::Unfinished, "several processes share it and its parts may be whole, so it stays",
                       leftover.path, std::nullopt, "commit it, or discard what is shared too" };
    return std::nullopt;
}

/// The leftovers that a plan deletes: each has a folder of its own, which all of its keys begin with. Errors: Usage.
Result<std::vector<Leftover>> plannedLeftovers(const ActPlan& plan)
{
    if (plan.kind != DiscardKind)
        return fail(Code::Usage, "this is the plan of another act", plan.kind);
    std::vector<Leftover> leftovers;
    for (const PlannedObject& object : plan.deletes) {
        const std::string path = object.store + object.key.substr(0, object.key.find('/'));
        if (leftovers.empty() || leftovers.back().path != path) {
            const std::optional<std::string> destination = destinationOfLeftover(path);
            if (!destination)
                return fail(Code::Usage, "the plan deletes what no rebuild left", path);
            leftovers.push_back({ path, *destination, 0, 0, false, false, {} });
        }
        leftovers.back().bytes += object.bytes;
        leftovers.back().objects.push_back(object);
    }
    return leftovers;
}

} // namespace

Result<DiscardPlan> planDiscard(FileSystem& disk, const DiscardChoice& choice, TaskContext& task)
{
    if (choice.name.find('/') != std::string::npos)
        return fail(Code::Usage, "the name of one checkpoint has no slash", choice.name,
                    "name the folder that it lies in apart");
    DS_CHECK(task.checkpoint());
    DS_TRY(std::vector<Leftover> found, findLeftovers(disk, choice.folder));
    const std::string wanted =
        choice.name.empty() ? std::string() : nameInLeftovers(fmt::format("{}/{}", choice.folder, choice.name));
    DiscardPlan plan;
    plan.act.kind = DiscardKind;
    plan.act.arguments = { { "folder", choice.folder },
                           { "name", choice.name },
                           { "shared", choice.alsoShared ? "true" : "false" } };
    for (Leftover& leftover : found) {
        if (!wanted.empty() && leftover.destination != wanted)
            continue;
        if (std::optional<Error> reason = reasonToKeep(leftover, choice)) {
            plan.act.warnings.push_back(std::move(*reason));
            continue;
        }
        plan.act.deletes.insert(plan.act.deletes.end(), leftover.objects.begin(), leftover.objects.end());
        plan.act.effects.push_back(
            { leftover.path, fmt::format("removed: a rebuild of {} begins from the start", leftover.destination) });
        plan.leftovers.push_back(std::move(leftover));
    }
    if (!plan.leftovers.empty())
        plan.act.unknown = {
            "whether a process of another machine works there: numbers of processes, and locks on some "
            "file systems, are those of this machine"
        };
    return plan;
}

Result<std::vector<Discarded>> discard(FileSystem& disk, const ActPlan& plan, TaskContext& task)
{
    DS_TRY(const std::vector<Leftover> leftovers, plannedLeftovers(plan));
    task.beginPhase("remove",
                    std::accumulate(leftovers.begin(), leftovers.end(), std::uint64_t { 0 },
                                    [](std::uint64_t sum, const Leftover& one) { return sum + one.bytes; }));
    std::vector<Discarded> outcomes;
    for (const Leftover& leftover : leftovers) {
        DS_CHECK(task.checkpoint());
        const Result<void> removed = removeLeftover(disk, leftover);
        outcomes.push_back({ leftover.path, leftover.destination, leftover.bytes,
                             removed ? std::nullopt : std::optional(removed.error()) });
        task.addDone(leftover.bytes);
    }
    return outcomes;
}

} // namespace deltascope
