#include "acts/materialize/materialize_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "monitor/neighbors.h"
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

Result<BoundPlan> planMaterialize(const ActScene& scene, const CheckedArgs& args)
{
    const auto& [snapshot, source, options] = scene;
    MaterializeRequest act;
    act.acrossGap = args.flag("across_gap");
    act.forTraining = args.flag("for_training");
    act.trained = args.text("state") == "trained";
    act.shardBytes = static_cast<std::uint64_t>(args.whole("shard_bytes"));
    DS_TRY(const StepView* step, findStep(*snapshot.run, args.text("step")));
    if (!act.acrossGap)
        DS_CHECK(expectRestorable(*step));
    const std::string to = args.text("to");
    DS_TRY(act.destination,
           destinationOf(options, to.empty() ? fmt::format("{}-step_{:06}", snapshot.id, step->step) : to));
    act.version = { source, addressOf(*step), args.flag("accept_rewritten") };
    if (!options.anyFolder)
        act.below = options.outputFolder;
    BoundPlan plan;
    PlanView& view = plan.view;
    view.title = fmt::format("Materialize step {} of {}", step->step, snapshot.name);
    view.cli = fmt::format("deltascope materialize {} -o {}{}{}{}{}{}{}", quotedStep(source, *step),
                           quotedPath(act.destination), sourceOptions(source), act.trained ? " --state trained" : "",
                           act.acrossGap ? " --across-gap" : "", act.forTraining ? " --for-training" : "",
                           acceptOption(act.version.acceptRewritten),
                           act.shardBytes > 0 ? fmt::format(" --shard-size {}", act.shardBytes) : "");
    view.destination = act.destination;
    view.readBytes = step->restore.bytes;
    view.writeBytes = checkpointBytes(snapshot);
    const std::unique_ptr<FileSystem> disk = makeFileSystemBelow(rootOf(options));
    DS_TRY(view.freeBytes, freeBytes(*disk, act.destination));
    view.steps.push_back(
        { step->restore.deltas == 0 ? "Read the anchor" : "Read the base and " + counted(step->restore.deltas, "delta"),
          view.readBytes });
    view.steps.push_back({ "Rebuild, hash and write the checkpoint", view.writeBytes });
    view.steps.push_back({ "Read back what was written and compare its hashes", view.writeBytes });
    view.steps.push_back({ fmt::format("Rename it into place and write {}", ProvenanceName), 0 });
    if (!step->proven)
        view.warnings.emplace_back("A number before this step is missing, and nothing proves that nothing was lost.");
    if (view.freeBytes && *view.freeBytes < view.writeBytes)
        view.warnings.emplace_back("The disk has less space than the checkpoint needs.");
    if (disk->exists(act.destination))
        view.warnings.emplace_back("The destination exists already; nothing is overwritten.");
    // Where names are below one output folder, they begin with that of the run.
    if (const auto other = options.anyFolder ? foreignNeighbor(act.destination, snapshot.source) : std::nullopt)
        view.warnings.push_back(fmt::format("The folder {} holds checkpoints of another run: {}.",
                                            fs::path(act.destination).parent_path().string(), *other));
    plan.start = [act](Service& service, const PlanView&, const std::string&) {
        std::error_code ignored; // what is missing then, the act tells
        if (act.below.empty())
            fs::create_directories(fs::path(act.destination).parent_path(), ignored);
        return service.materialize(act);
    };
    seal(view, stateOf(snapshot, *step));
    return plan;
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
              "Use objects that were rewritten since they were first seen, this once.", "false" } } },
        planMaterialize,
        reportOf<MaterializeView>()
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
