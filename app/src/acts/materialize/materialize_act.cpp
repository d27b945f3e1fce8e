#include "acts/materialize/materialize_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "monitor/neighbors.h"
#include "service/materialize_jobs.h"
#include "view/materialize_description.h"
#include "view/step_address.h"

#include "deltascope/engine/file_system.h"
#include "deltascope/engine/provenance.h"

#include <filesystem>
#include <fmt/format.h>
#include <limits>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

std::uint64_t checkpointBytes(const RunSnapshot& snapshot)
{
    std::uint64_t bytes = 0;
    if (snapshot.heat) {
        for (const TensorRowView& row : snapshot.heat->rows)
            bytes += row.bytes;
    }
    return bytes;
}

Result<BoundPlan> planMaterializeOf(const ActScene& scene, const CheckedArgs& args)
{
    const auto& [snapshot, source, options] = scene;
    const bool acrossGap = args.flag("across_gap");
    const bool forTraining = args.flag("for_training");
    const bool acceptRewritten = args.flag("accept_rewritten");
    const auto shardBytes = args.whole("shard_bytes");
    DS_TRY(const StepView* step, findStep(*snapshot.run, args.text("step")));
    if (!acrossGap)
        DS_CHECK(expectRestorable(*step));
    const std::string to = args.text("to");
    DS_TRY(const std::string destination,
           destinationOf(options, to.empty() ? fmt::format("{}-step_{:06}", snapshot.id, step->step) : to));
    BoundPlan plan;
    plan.settled = { { "step", addressOf(*step) } };
    plan.call.act = { "materialize", args.all() };
    plan.call.act.args["step"] = addressOf(*step);
    plan.call.act.args["to"] = destination;
    PlanView& view = plan.view;
    view.title = fmt::format("Materialize step {} of {}", step->step, snapshot.name);
    view.cli =
        fmt::format("deltascope materialize {} -o {}{}{}{}{}{}{}", quotedStep(source, *step), quotedPath(destination),
                    sourceOptions(source), args.text("state") == "trained" ? " --state trained" : "",
                    acrossGap ? " --across-gap" : "", forTraining ? " --for-training" : "",
                    acceptOption(acceptRewritten), shardBytes > 0 ? fmt::format(" --shard-size {}", shardBytes) : "");
    view.destination = destination;
    view.writeBytes = checkpointBytes(snapshot);
    const std::unique_ptr<FileSystem> disk = makeFileSystemBelow(rootOf(options));
    DS_TRY(view.freeBytes, freeBytes(*disk, destination));
    view.steps.push_back(
        { step->restore.deltas == 0 ? "Read the anchor" : "Read the base and " + counted(step->restore.deltas, "delta"),
          step->restore.bytes });
    view.steps.push_back({ "Rebuild, hash and write the checkpoint", view.writeBytes });
    view.steps.push_back({ "Read back what was written and compare its hashes", view.writeBytes });
    view.steps.push_back({ fmt::format("Rename it into place and write {}", ProvenanceName), 0 });
    if (!step->proven)
        view.warnings.emplace_back("A number before this step is missing, and nothing proves that nothing was lost.");
    if (view.freeBytes && *view.freeBytes < view.writeBytes)
        view.warnings.emplace_back("The disk has less space than the checkpoint needs.");
    if (disk->exists(destination))
        view.warnings.emplace_back("The destination exists already; nothing is overwritten.");
    // Where names are below one output folder, they begin with that of the run.
    if (const auto other = options.anyFolder ? foreignNeighbor(destination, snapshot.source) : std::nullopt)
        view.warnings.push_back(fmt::format("The folder {} holds checkpoints of another run: {}.",
                                            fs::path(destination).parent_path().string(), *other));
    return plan;
}

Result<JobResult> runMaterialize(const ActWork& work, TaskContext& task)
{
    MaterializeRequest request;
    request.version = { work.call.source, work.args.text("step"), work.args.flag("accept_rewritten") };
    request.destination = work.args.text("to");
    request.below = work.call.below;
    request.shardBytes = static_cast<std::uint64_t>(work.args.whole("shard_bytes"));
    request.acrossGap = work.args.flag("across_gap");
    request.forTraining = work.args.flag("for_training");
    request.trained = work.args.text("state") == "trained";
    if (work.isPlan()) {
        DS_TRY(PlannedReadView planned, planRebuild(work.bench, request, task));
        return JobResult(std::make_shared<const PlannedReadView>(std::move(planned)));
    }
    std::error_code ignored; // what is missing then, the act tells
    if (request.below.empty())
        fs::create_directories(fs::path(request.destination).parent_path(), ignored);
    DS_TRY(MaterializeView view, rebuildOf(work.bench, request, work.call.planHash, task));
    return JobResult(std::make_shared<const MaterializeView>(std::move(view)));
}

void takeMaterialize(PlanView& plan, const JobResult& planned)
{
    plan.steps.front().bytes = takePlannedRead(plan, planned).readBytes;
}

}

Act materializeAct()
{
    using Type = ActField::Type;
    return {
        { "materialize",
          "Materialize",
          "",
          { { "step", Type::Step, "Step", "The step that is rebuilt.", "", true },
            { "to", Type::Folder, "Folder", "A new folder for the checkpoint.", "" },
            { "state",
              Type::Choice,
              "State",
              "Which one, where the trainer's own copy differs from what the deltas lead to.",
              "served",
              false,
              0,
              { "served", "trained" } },
            { "shard_bytes", Type::Whole, "Largest file", "In bytes; 0: files as in the anchor.", "0", false,
              std::numeric_limits<std::int64_t>::max() },
            { "across_gap", Type::Flag, "Across a gap", "Rebuild although a version on the way is missing.", "false" },
            { "for_training", Type::Flag, "For training",
              "Also copy optimizer, scheduler, random and trainer state of the step.", "false" },
            { "accept_rewritten", Type::Flag, "Accept rewritten objects",
              "Use objects that were rewritten since they were first seen, this once.", "false" } },
          ActWay::OwnCommand },
        planMaterializeOf,
        reportOf<MaterializeView>(),
        runMaterialize,
        takeMaterialize
    };
}

MaterializeArgs::operator ActRequest() const
{
    return { "materialize",
             { { "step", step },
               { "to", to },
               { "state", std::string(trained ? "trained" : "served") },
               { "shard_bytes", static_cast<std::int64_t>(shardBytes) },
               { "across_gap", acrossGap },
               { "for_training", forTraining },
               { "accept_rewritten", acceptRewritten } } };
}

} // namespace deltascope::app
