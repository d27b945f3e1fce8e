#include "materialize_jobs.h"

#include "act_plan_view.h"
#include "address.h"
#include "annotation_jobs.h"
#include "opening.h"
#include "view/make_views.h"

#include "deltascope/engine/read_acts.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace deltascope::app {

namespace {

/// What is written into a run would be taken for part of it.
Result<void> expectOutside(const std::string& destination, const Address& run, std::string_view word)
{
    if (!Address(destination).isWithin(run))
        return {};
    return fail(Code::Usage,
                fmt::format("the destination lies inside the {}, where it would be taken for part of the run", word),
                destination, fmt::format("choose a destination outside of the {}", word));
}

/// The folder that the destination is made in.
Result<void> makeWay(FileSystem& disk, const MaterializeRequest& request)
{
    std::error_code error;
    std::filesystem::create_directories(request.below, error);
    if (error)
        return fail(Code::Io, "the output folder cannot be made: " + error.message(), request.below);
    return createFoldersBelow(disk, request.below, std::filesystem::path(request.destination).parent_path().string());
}

/// A version with several forms may have two states; which one is meant can only be told once they were compared.
Result<void> compareForms(Workbench& bench, Run& run, const Version& version, TaskContext& task)
{
    if (version.otherForms.empty() || version.facts)
        return {};
    AnalyzeOptions options;
    const auto at = static_cast<std::size_t>(&version - run.versions.data());
    options.range = { at, at };
    return analyzeRun(bench, run, options, task);
}

struct Rebuild {
    std::unique_ptr<Run> run; ///< the version stays where it is
    const Version* version = nullptr;
    std::optional<FallbackPlans> plans;
    StateChoice state = StateChoice::Served;
    MaterializeOptions options;

    Result<ActPlan> plan(TaskContext& task) const
    {
        return planMaterialize({ *run, *version, plans->plan() }, state, options, task);
    }
};

Result<Rebuild> openRebuild(Workbench& bench, const MaterializeRequest& request, TaskContext& task)
{
    DS_CHECK(expectOutside(request.destination, request.version.source.source, "source"));
    Rebuild rebuild;
    DS_TRY(Run run, openRequested(bench, request.version.source, task));
    rebuild.run = std::make_unique<Run>(std::move(run));
    for (const std::string& mirror : rebuild.run->mirrors)
        DS_CHECK(expectOutside(request.destination, mirror, "mirror"));
    DS_TRY(rebuild.version, findVersion(bench, *rebuild.run, request.version.version, task));
    DS_CHECK(compareForms(bench, *rebuild.run, *rebuild.version, task));
    DS_CHECK(compareFormsOnTheWay(bench, *rebuild.run, *rebuild.version, task));
    rebuild.state = request.trained ? StateChoice::Trained : StateChoice::Served;
    DS_TRY(rebuild.plans, FallbackPlans::of(*rebuild.run, *rebuild.version, { request.acrossGap, rebuild.state, {} }));
    MaterializeOptions& options = rebuild.options;
    options.destination = request.destination;
    options.shardBytes = request.shardBytes;
    options.readBackFromDisk = request.readBackFromDisk;
    options.acrossGap = request.acrossGap;
    options.forTraining = request.forTraining;
    options.acceptRewritten = request.version.acceptRewritten;
    options.part = request.part;
    options.parts = request.parts;
    options.commit = request.commit;
    options.toolVersion = DELTASCOPE_VERSION;
    return rebuild;
}

}

Result<PlannedReadView> planRebuild(Workbench& bench, const MaterializeRequest& request, TaskContext& task)
{
    DS_TRY(const Rebuild rebuild, openRebuild(bench, request, task));
    DS_TRY(const ActPlan plan, rebuild.plan(task));
    return makePlannedReadView(*rebuild.run, plan);
}

Result<MaterializeView> rebuildOf(Workbench& bench, const MaterializeRequest& request, const std::string& planHash,
                                  TaskContext& task)
{
    const auto began = std::chrono::steady_clock::now();
    DS_TRY(Rebuild rebuild, openRebuild(bench, request, task));
    const Run& run = *rebuild.run;
    if (!planHash.empty()) {
        DS_TRY(const ActPlan plan, rebuild.plan(task));
        DS_CHECK(expectPlanned(plan, planHash, run.store->uri(), rebuild.version->step()));
    }
    const std::unique_ptr<FileSystem> disk = makeFileSystemBelow(request.below);
    if (!request.below.empty())
        DS_CHECK(makeWay(*disk, request));
    Workbench below = bench;
    below.disk = disk.get();
    FallbackPlans& plans = *rebuild.plans;
    const auto attempt = [&](const Plan& plan) {
        rebuild.options.replaced = plans.replaced();
        return materialize(below, run, *rebuild.version, plan, rebuild.options, task);
    };
    // Processes that share a rebuild have to agree on its plan: they take the first one.
    const bool isShared = request.parts > 1 || request.commit;
    DS_TRY(const MaterializeReport report, isShared ? attempt(plans.plan()) : tryPlans(plans, attempt));
    MaterializeView view = makeMaterializeView(*rebuild.version, report);
    view.chosen = choiceText(run, *rebuild.version, request.version.version);
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

} // namespace deltascope::app
