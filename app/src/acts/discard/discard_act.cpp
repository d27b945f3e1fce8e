#include "acts/discard/discard_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "service/act_plan_view.h"
#include "view/act_description.h"
#include "view/make_views.h"

#include "deltascope/engine/discard.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

/// The folder that is meant: what plans and tasks show of a destination may be given back as it is.
Result<std::string> folderOf(const MonitorOptions& options, const std::string& text)
{
    const std::string relative = fs::path(text).lexically_relative(options.outputFolder).string();
    if (text.empty() || relative == ".")
        return options.outputFolder;
    const bool isBelow = fs::path(text).is_absolute() && !relative.empty() && !relative.starts_with("..");
    return destinationOf(options, isBelow ? relative : text);
}

Result<BoundPlan> planDiscardOf(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const std::string folder, folderOf(scene.options, args.text("folder")));
    const std::string& name = args.text("name");
    const bool alsoShared = args.flag("shared");
    BoundPlan plan;
    plan.call.act = { "discard", { { "folder", folder }, { "name", name }, { "shared", alsoShared } } };
    plan.view.title = fmt::format("Discard what stopped rebuilds left of {}",
                                  (name.empty() ? fs::path(folder) : fs::path(folder) / name).string());
    plan.view.cli =
        fmt::format("deltascope discard {}{}{} --yes", quotedPath(folder),
                    name.empty() ? std::string() : " --name " + quoted(name), alsoShared ? " --shared" : "");
    return plan;
}

void sortByPath(std::vector<DiscardedView>& leftovers)
{
    std::sort(leftovers.begin(), leftovers.end(),
              [](const DiscardedView& a, const DiscardedView& b) { return a.path < b.path; });
}

/// What a plan leaves alone: its warnings name it.
void addKept(DiscardView& view, const ActPlan& plan)
{
    for (const Error& why : plan.warnings)
        view.leftovers.push_back(
            { why.where, destinationOfLeftover(why.where).value_or(std::string()), 0, false, false, problemView(why) });
    sortByPath(view.leftovers);
}

DiscardView plannedView(const std::string& folder, DiscardPlan plan)
{
    DiscardView view;
    view.folder = folder;
    for (const Leftover& leftover : plan.leftovers)
        view.leftovers.push_back({ leftover.path, leftover.destination, leftover.bytes, true, false, {} });
    addKept(view, plan.act);
    view.plan = makeActPlanView(plan.act);
    view.plan.exact = std::make_shared<const ActPlan>(std::move(plan.act));
    return view;
}

/// `text` from the working directory on. A ".." stays: behind a link it leads elsewhere.
std::string absoluteFolder(const std::string& text)
{
    const fs::path path = fs::absolute(text.empty() ? "." : text);
    const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
    const fs::path plain = climbs ? path : path.lexically_normal();
    return (plain.has_filename() || !plain.has_relative_path() ? plain : plain.parent_path()).string();
}

/// A plan that was kept is carried out as far as it still fits; of one that was not, all has to fit.
Result<JobResult> runDiscard(const ActWork& work, TaskContext& task)
{
    const std::unique_ptr<FileSystem> disk = makeFileSystemBelow(work.call.below);
    const std::string folder = absoluteFolder(work.args.text("folder"));
    const DiscardChoice choice { folder, work.args.text("name"), work.args.flag("shared") };
    DiscardPlan plan;
    if (work.call.planned) {
        plan.act = *work.call.planned;
    } else {
        DS_TRY(plan, planDiscard(*disk, choice, task));
    }
    if (work.isPlan())
        return JobResult(std::make_shared<const DiscardView>(plannedView(folder, std::move(plan))));
    DS_CHECK(expectPlanned(plan.act, work.call.planHash, folder, std::nullopt));
    DS_TRY(std::vector<Discarded> outcomes, discard(*disk, plan.act, task));
    DiscardView view { folder, {}, {}, true };
    for (Discarded& one : outcomes) {
        const bool isRemoved = !one.refusal;
        view.leftovers.push_back({ std::move(one.path), std::move(one.destination), one.bytes, true, isRemoved,
                                   isRemoved ? std::nullopt : std::optional(problemView(*one.refusal)) });
    }
    addKept(view, plan.act);
    return JobResult(std::make_shared<const DiscardView>(std::move(view)));
}

void takeDiscard(PlanView& plan, const JobResult& planned)
{
    const DiscardView& found = *std::get<std::shared_ptr<const DiscardView>>(planned);
    takeActPlan(plan, found.plan);
    plan.warnings.clear(); // they do not name what they are about
    for (const DiscardedView& one : found.leftovers) {
        if (one.problem)
            plan.warnings.push_back(fmt::format("{}: {}.", one.path, one.problem->text));
        else
            plan.steps.push_back({ "Remove " + one.path, one.bytes });
    }
    plan.facts = { { "Files and folders", counted(found.plan.deletes.size(), "deletion") } };
    if (found.plan.deletes.empty())
        plan.warnings.emplace_back("There is nothing to discard.");
}

}

Act discardAct()
{
    using Type = ActField::Type;
    return { { "discard",
               "Discard leftovers",
               "remove what stopped and killed rebuilds left in a folder",
               { { "folder",
                   Type::Folder,
                   "Folder",
                   "The folder that holds, or should have held, the checkpoints.",
                   "",
                   false,
                   0,
                   {},
                   true },
                 { "name", Type::Text, "Checkpoint", "Of this one alone; empty: of all in the folder.", "" },
                 { "shared", Type::Flag, "Shared rebuilds",
                   "Also of rebuilds that several processes share, whose parts may be done.", "false" } },
               ActWay::Confirmed,
               false },
             planDiscardOf,
             reportOf<DiscardView>(),
             runDiscard,
             takeDiscard };
}

} // namespace deltascope::app
