#include "acts/branch/branch_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/evidence_words.h"
#include "service/act_plan_view.h"
#include "service/act_source.h"
#include "view/act_description.h"
#include "view/step_address.h"

#include "deltascope/engine/branch.h"

#include <filesystem>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

Result<BoundPlan> planBranchOf(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    DS_CHECK(expectRestorable(*step));
    DS_TRY(const std::string into, placeOf(scene.options, args.text("into")));
    const bool soleWriter = args.flag("sole_writer");
    BoundPlan plan;
    plan.call.act = { "branch", { { "step", addressOf(*step) }, { "into", into }, { "sole_writer", soleWriter } } };
    plan.view.title = fmt::format("Branch step {} of {}", step->step, scene.snapshot.name);
    plan.view.cli = fmt::format("deltascope branch {} --into {}{}{} --yes", quotedStep(scene.source, *step),
                                quotedPath(into), soleWriter ? " --sole-writer" : "", sourceOptions(scene.source));
    return plan;
}

/// A plan makes no folder.
Result<BranchTarget> targetOf(const ActWork& work)
{
    const Address into(work.args.text("into"));
    BranchTarget target;
    target.address = into.canonical().text();
    if (const Result<std::string>& path = into.path()) {
        std::error_code ignored; // what cannot be made fails when it is opened
        if (work.isPlan() && !std::filesystem::exists(*path, ignored))
            return target;
        std::error_code failed;
        std::filesystem::create_directories(*path, failed);
        if (failed)
            return fail(Code::Io, "the folder for the new run cannot be made: " + failed.message(), *path,
                        "name another place");
    }
    DS_TRY(target.into, work.bench.stores->open(into, { work.args.flag("sole_writer") }));
    return target;
}

Result<JobResult> runBranch(const ActWork& work, TaskContext& task)
{
    const Address into(work.args.text("into"));
    if (into.isWithin(work.call.source.source) || work.call.source.source.isWithin(into))
        return fail(Code::Usage, "the new run and the one that it comes from must not lie in each other", into.text(),
                    "name another place");
    DS_TRY(const ActSource source, openActSource(work.bench, work.call.source, false));
    DS_TRY(const BranchTarget target, targetOf(work));
    const ChooseVersion choose = work.chosen(task);
    BranchView view;
    view.source = source.store->uri();
    view.run = source.name;
    view.into = target.address;
    if (work.isPlan()) {
        DS_TRY(const BranchPlan plan, planBranch(work.bench, source.store, source.options, choose, target, task));
        view.from = plan.from;
        view.step = plan.step;
        view.evidence = word(plan.evidence);
        view.stateBytes = plan.stateBytes;
        view.wasThere = plan.isDone;
        view.plan = makeActPlanView(plan.act);
    } else {
        DS_TRY(Branched done, branch(work.bench, source.store, source.options, choose, target, work.how(), task));
        view.from = done.from;
        view.step = done.step;
        view.isDone = true;
        view.wasThere = done.wasThere;
        view.keys = std::move(done.keys);
    }
    return JobResult(std::make_shared<const BranchView>(std::move(view)));
}

void takeBranch(PlanView& plan, const JobResult& planned)
{
    const BranchView& found = *std::get<std::shared_ptr<const BranchView>>(planned);
    takeActPlan(plan, found.plan);
    plan.destination = found.into;
    plan.writeBytes = found.stateBytes;
    plan.facts = { { "Begins with", fmt::format("step {}, which is {}", found.from, evidenceWords(found.evidence)) },
                   { "New run", found.into } };
    if (found.wasThere)
        plan.warnings.emplace_back("The new run begins with this state already: nothing is written.");
    plan.steps.push_back({ "Verify and read the state of the step", found.plan.readBytes });
    for (const PlannedObjectView& object : found.plan.writes)
        plan.steps.push_back({ "Write " + object.key, found.stateBytes });
    plan.steps.push_back({ "Read the new run back and compare its root", found.stateBytes });
}

}

Act branchAct()
{
    using Type = ActField::Type;
    return { { "branch",
               "Branch from here",
               "begin a new run with the state of a step, in another place",
               { { "step", Type::Step, "Step", "The step whose state the new run begins with.", "", true },
                 { "into", Type::Place, "Into", "An empty or new folder, or an address in a store.", "", true },
                 { "sole_writer", Type::Flag, "Nobody else publishes there",
                   "Needed on a store that cannot put under a condition.", "false" } },
               ActWay::Confirmed },
             planBranchOf,
             reportOf<BranchView>(),
             runBranch,
             takeBranch };
}

} // namespace deltascope::app
