#include "plans.h"

#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "monitor/neighbors.h"
#include "view/step_address.h"

#include "deltascope/base/bytes.h"
#include "deltascope/engine/file_system.h"
#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/provenance.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

/// What the plan depends on: all objects of the run up to a step.
std::string stateOf(const RunSnapshot& snapshot, const StepView& until)
{
    std::string text;
    for (const EpochView& epoch : snapshot.run->epochs) {
        if (epoch.epoch != until.epoch)
            continue;
        for (const StepView& step : epoch.steps) {
            if (step.step > until.step)
                break;
            text += fmt::format("{} {}\n", step.step, step.restorable);
            for (const ObjectView& object : step.objects)
                text += fmt::format("{} {} {}\n", object.key, object.sizeBytes, object.modifiedUs);
        }
    }
    return text;
}

void seal(PlanView& plan, const std::string& state) { plan.hash = toHex(xxh3(asBytes(plan.cli + "\n" + state))); }

const char* acceptOption(bool acceptRewritten) { return acceptRewritten ? " --accept-rewritten" : ""; }

Result<void> expectRestorable(const StepView& step)
{
    if (step.restorable)
        return {};
    Error error { Code::ChainGap, step.restore.reason, step.name, step.step, {} };
    if (!step.problems.empty()) {
        error.code = parseCode(step.problems.front().code).value_or(Code::ChainGap);
        error.action = step.problems.front().remedy;
    }
    return fail(std::move(error));
}

/// Below the output folder no link is followed; where any folder will do, its user may use links.
std::string rootOf(const MonitorOptions& options)
{
    std::error_code ignored;
    return options.anyFolder || !fs::exists(options.outputFolder, ignored) ? std::string() : options.outputFolder;
}

/// Nothing: not known. Errors: Auth (a link is on the way).
Result<std::optional<std::uint64_t>> freeBytes(const FileSystem& disk, const std::string& path)
{
    std::error_code ignored;
    fs::path folder = fs::absolute(path, ignored);
    Result<std::uint64_t> bytes = disk.freeBytes(folder.string());
    while (!bytes && bytes.error().code == Code::NotFound && folder.has_relative_path()) {
        folder = folder.parent_path();
        bytes = disk.freeBytes(folder.string());
    }
    if (!bytes && bytes.error().code == Code::Auth)
        return fail(bytes.error());
    return bytes ? std::optional(*bytes) : std::nullopt;
}

/// Names in a destination that some file system or the way down to it would not take.
Result<void> expectFits(const fs::path& relative, const std::string& name)
{
    constexpr std::size_t LongestPart = 255; // bytes; NAME_MAX of Linux
    constexpr std::ptrdiff_t MostParts = 8;
    const bool isLong = std::any_of(relative.begin(), relative.end(),
                                    [](const fs::path& part) { return part.native().size() > LongestPart; });
    if (isLong)
        return fail(Code::Usage, fmt::format("a name in the destination is longer than {} bytes", LongestPart),
                    name.substr(0, LongestPart));
    if (std::distance(relative.begin(), relative.end()) > MostParts)
        return fail(Code::Usage, fmt::format("the destination is more than {} folders deep", MostParts), name);
    return {};
}

/// `name` below the output folder, whatever it says; where any folder will do, an absolute path is taken as it is.
Result<std::string> destinationOf(const MonitorOptions& options, const std::string& name)
{
    constexpr std::size_t LongestPath = 4'096; // PATH_MAX of Linux
    if (name.size() > LongestPath)
        return fail(Code::Usage, fmt::format("the destination is longer than {} bytes", LongestPath),
                    name.substr(0, LongestPath));
    const std::string& folder = options.outputFolder;
    fs::path relative = fs::path(name).lexically_normal();
    if (!relative.has_filename()) // a slash at the end
        relative = relative.parent_path();
    const bool climbs =
        std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
    const bool hasControls =
        std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (options.anyFolder && relative.is_absolute() && relative.has_filename() && !hasControls)
        return relative.string();
    if (relative.empty() || relative.is_absolute() || climbs || hasControls || relative == ".")
        return fail(Code::Usage, "a destination is a name below the output folder", name,
                    fmt::format("checkpoints are written below {}", folder));
    DS_CHECK(expectFits(relative, name));
    return (fs::path(folder) / relative).string();
}

std::uint64_t checkpointBytes(const RunSnapshot& snapshot)
{
    std::uint64_t bytes = 0;
    if (snapshot.heat) {
        for (const TensorRowView& row : snapshot.heat->rows)
            bytes += row.bytes;
    }
    return bytes;
}

Result<BoundPlan> planMaterialize(const RunSnapshot& snapshot, const SourceRequest& source,
                                  const MaterializePlan& request, const MonitorOptions& options)
{
    DS_TRY(const StepView* step, findStep(*snapshot.run, request.step));
    if (!request.acrossGap)
        DS_CHECK(expectRestorable(*step));
    const std::string name = request.to.empty() ? fmt::format("{}-step_{:06}", snapshot.id, step->step) : request.to;
    DS_TRY(const std::string destination, destinationOf(options, name));
    BoundPlan plan;
    PlanView& view = plan.view;
    view.kind = "materialize";
    view.title = fmt::format("Materialize step {} of {}", step->step, snapshot.name);
    view.cli = fmt::format("deltascope materialize {} -o {}{}{}{}{}{}",
                           quotedPath(source.source.text() + "@" + addressOf(*step)), quotedPath(destination),
                           sourceOptions(source), request.trained ? " --state trained" : "",
                           request.acrossGap ? " --across-gap" : "", acceptOption(request.acceptRewritten),
                           request.shardBytes > 0 ? fmt::format(" --shard-size {}", request.shardBytes) : "");
    view.destination = destination;
    view.readBytes = step->restore.bytes;
    view.writeBytes = checkpointBytes(snapshot);
    const std::unique_ptr<FileSystem> disk = makeFileSystemBelow(rootOf(options));
    DS_TRY(view.freeBytes, freeBytes(*disk, destination));
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
    if (disk->exists(destination))
        view.warnings.emplace_back("The destination exists already; nothing is overwritten.");
    // Where names are below one output folder, they begin with that of the run.
    if (const auto other = options.anyFolder ? foreignNeighbor(destination, snapshot.source) : std::nullopt)
        view.warnings.push_back(fmt::format("The folder {} holds checkpoints of another run: {}.",
                                            fs::path(destination).parent_path().string(), *other));
    MaterializeRequest act;
    act.version = { source, addressOf(*step), request.acceptRewritten };
    act.destination = destination;
    act.shardBytes = request.shardBytes;
    act.trained = request.trained;
    act.acrossGap = request.acrossGap;
    if (!options.anyFolder)
        act.below = options.outputFolder;
    plan.start = [act](Service& service) {
        std::error_code ignored; // what is missing then, the act tells
        if (act.below.empty())
            fs::create_directories(fs::path(act.destination).parent_path(), ignored);
        return service.materialize(act);
    };
    seal(view, stateOf(snapshot, *step));
    return plan;
}

Result<BoundPlan> planVerify(const RunSnapshot& snapshot, const SourceRequest& source, const VerifyPlan& request)
{
    if (request.level < 0 || request.level > 4)
        return fail(Code::Usage, fmt::format("levels are 0 to 4, not {}", request.level), snapshot.source);
    BoundPlan plan;
    PlanView& view = plan.view;
    view.kind = "verify";
    view.title = request.range.empty() ? "Verify " + snapshot.name
                                       : fmt::format("Verify {} of {}", request.range, snapshot.name);
    view.title += fmt::format(", level {}", request.level);
    const std::string where = request.range.empty() ? source.source.text() : source.source.text() + "@" + request.range;
    view.cli = fmt::format("deltascope verify {} --level {}{}{}", quotedPath(where), request.level,
                           sourceOptions(source), acceptOption(request.acceptRewritten));
    if (request.level >= 2)
        view.readBytes = snapshot.run->wireBytes;
    view.steps.push_back({ "Compare names, numbers and headers", 0 });
    if (request.level >= 2)
        view.steps.push_back({ "Read every object and compare its digests", 0 });
    if (request.level >= 3)
        view.steps.push_back({ "Replay the chains and compare tensors with their publisher's digests", 0 });
    if (request.level >= 4)
        view.steps.push_back({ "Compare anchors with the replay before them", 0 });
    const VerifyRequest act { source, request.range, request.level, request.acceptRewritten };
    plan.start = [act](Service& service) { return service.verify(act); };
    seal(view, {});
    return plan;
}

Result<BoundPlan> planDiff(const RunSnapshot& snapshot, const SourceRequest& source, const DiffPlan& request)
{
    DS_TRY(const StepView* a, findStep(*snapshot.run, request.a));
    DS_TRY(const StepView* b, findStep(*snapshot.run, request.b));
    DS_CHECK(expectRestorable(*a));
    DS_CHECK(expectRestorable(*b));
    BoundPlan plan;
    PlanView& view = plan.view;
    view.kind = "diff";
    view.title = fmt::format("Compare steps {} and {} of {}", a->step, b->step, snapshot.name);
    view.cli = fmt::format("deltascope diff {} {}{}{}", quotedPath(source.source.text() + "@" + addressOf(*a)),
                           quotedPath(source.source.text() + "@" + addressOf(*b)), sourceOptions(source),
                           acceptOption(request.acceptRewritten));
    view.readBytes = a->restore.bytes + b->restore.bytes;
    view.steps.push_back({ fmt::format("Replay step {}", a->step), a->restore.bytes });
    view.steps.push_back({ fmt::format("Replay step {} and compare every bit", b->step), b->restore.bytes });
    const VersionRequest left { source, addressOf(*a), request.acceptRewritten };
    const VersionRequest right { source, addressOf(*b), request.acceptRewritten };
    plan.start = [left, right](Service& service) { return service.diff(left, right); };
    seal(view, stateOf(snapshot, *a) + stateOf(snapshot, *b));
    return plan;
}

}

Result<BoundPlan> makePlan(const RunSnapshot& snapshot, const SourceRequest& source, const PlanRequest& request,
                           const MonitorOptions& options)
{
    if (!snapshot.run)
        return fail(Code::Transient, "the run is still being opened", snapshot.source, "try again in a moment");
    DS_TRY(BoundPlan plan,
           std::visit(
               [&](const auto& act) -> Result<BoundPlan> {
                   using Act = std::decay_t<decltype(act)>;
                   if constexpr (std::is_same_v<Act, MaterializePlan>)
                       return planMaterialize(snapshot, source, act, options);
                   else if constexpr (std::is_same_v<Act, VerifyPlan>)
                       return planVerify(snapshot, source, act);
                   else
                       return planDiff(snapshot, source, act);
               },
               request));
    plan.view.run = snapshot.id;
    plan.request = request;
    if (std::visit([](const auto& act) { return act.acceptRewritten; }, request))
        plan.view.warnings.push_back(acceptRewrittenText(plan.view.kind) + '.');
    return plan;
}

} // namespace deltascope::app
