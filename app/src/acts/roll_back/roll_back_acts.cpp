#include "acts/roll_back/roll_back_acts.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/evidence_words.h"
#include "service/act_plan_view.h"
#include "service/act_source.h"
#include "view/act_description.h"
#include "view/make_views.h"
#include "view/step_address.h"

#include "deltascope/engine/roll_back.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

/// What the engine's plan says, in the words of every face.
void takeRollBack(PlanView& plan, const JobResult& result)
{
    const RollBackView& found = *std::get<std::shared_ptr<const RollBackView>>(result);
    takeActPlan(plan, found.plan);
    plan.undo = "undo";
    plan.confirm = found.run;
    plan.changes = found.tensors;
    plan.facts = { { "Newest step", fmt::format("{}", found.from) },
                   { "Restores", fmt::format("step {}, which is {}", found.to, evidenceWords(found.evidence)) },
                   { "Is written as", fmt::format("step {}, a delta behind step {}", found.step, found.from) },
                   { "Changes",
                     fmt::format("{} of {} in {}", countText(found.changedElements),
                                 counted(found.totalElements, "element"), counted(found.changedTensors, "tensor")) } };
    plan.steps.push_back({ "Read the states of both steps and compare them", found.plan.readBytes });
    for (const PlannedObjectView& object : found.plan.writes)
        plan.steps.push_back({ "Write " + object.key, 0 });
    plan.steps.push_back({ "List the run again, read the new step back and compare its root", 0 });
}

/// Those of which the largest share changes, first.
std::vector<ChangedTensorView> changedTensors(const DiffReport& difference)
{
    constexpr std::size_t Most = 256;
    std::vector<ChangedTensorView> tensors;
    for (const TensorDiff& diff : difference.tensors) {
        if (diff.different > 0)
            tensors.push_back({ diff.tensor.name, diff.tensor.elements(), diff.different });
    }
    const auto share = [](const ChangedTensorView& tensor) {
        return static_cast<double>(tensor.changed) / static_cast<double>(tensor.elements);
    };
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](const ChangedTensorView& a, const ChangedTensorView& b) { return share(a) > share(b); });
    if (tensors.size() > Most)
        tensors.resize(Most);
    return tensors;
}

RollBackView makeRollBackView(const RollBackPlan& plan)
{
    RollBackView view;
    view.from = plan.from;
    view.to = plan.to;
    view.step = plan.isDone ? plan.from : plan.step;
    view.evidence = word(plan.evidence);
    view.changedElements = plan.difference.elementsDifferent();
    view.totalElements = plan.difference.elementsCompared;
    view.changedTensors = plan.difference.tensorsDifferent();
    view.tensors = changedTensors(plan.difference);
    view.plan = makeActPlanView(plan.act);
    view.wasThere = plan.isDone;
    return view;
}

Result<JobResult> runRollBack(const ActWork& work, const ChooseVersion& choose, TaskContext& task)
{
    DS_TRY(const ActSource source, openActSource(work.bench, work.call.source, !work.isPlan()));
    RollBackView view;
    if (work.isPlan()) {
        DS_TRY(const RollBackPlan plan, planRollBack(work.bench, source.store, source.options, choose, task));
        view = makeRollBackView(plan);
    } else {
        DS_TRY(RolledBack done, rollBack(work.bench, source.store, source.options, choose, work.how(), task));
        view.step = done.step;
        view.from = done.from;
        view.to = done.to;
        view.changedElements = done.changedElements;
        view.isDone = true;
        view.wasThere = done.wasThere;
        view.keys = std::move(done.keys);
    }
    view.source = source.store->uri();
    view.run = source.name;
    return JobResult(std::make_shared<const RollBackView>(std::move(view)));
}

Result<JobResult> runRollBackTo(const ActWork& work, TaskContext& task)
{
    return runRollBack(work, work.chosen(task), task);
}

Result<JobResult> runUndo(const ActWork& work, TaskContext& task)
{
    return runRollBack(
        work, [&](const Run& run) { return stateBeforeRollBack(work.bench, run, task); }, task);
}

Result<BoundPlan> planRollBackTo(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    DS_CHECK(expectRestorable(*step));
    BoundPlan plan;
    plan.call.act = { "rollback", { { "step", addressOf(*step) } } };
    plan.view.title = fmt::format("Roll back {} to step {}", scene.snapshot.name, step->step);
    plan.view.cli =
        fmt::format("deltascope rollback {}{} --yes", quotedStep(scene.source, *step), sourceOptions(scene.source));
    return plan;
}

Result<BoundPlan> planUndo(const ActScene& scene, const CheckedArgs&)
{
    BoundPlan plan;
    plan.call.act = { "undo", {} };
    plan.view.title = fmt::format("Undo the roll back of {}", scene.snapshot.name);
    plan.view.cli =
        fmt::format("deltascope undo {}{} --yes", quotedPath(scene.source.source.text()), sourceOptions(scene.source));
    return plan;
}

}

Act rollBackAct()
{
    return { { "rollback",
               "Roll back",
               "publish the state of an earlier step again, as a new step behind the newest one",
               { { "step", ActField::Type::Step, "Step", "The step whose state is published again.", "", true } },
               ActWay::Confirmed },
             planRollBackTo,
             reportOf<RollBackView>(),
             runRollBackTo,
             takeRollBack };
}

Act undoAct()
{
    return { { "undo", "Undo", "take the newest roll back of a run back, by another one", {}, ActWay::Confirmed },
             planUndo,
             reportOf<RollBackView>(),
             runUndo,
             takeRollBack };
}

} // namespace deltascope::app
