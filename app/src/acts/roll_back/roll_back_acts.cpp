#include "acts/roll_back/roll_back_acts.h"

#include "acts/plan_parts.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/evidence_words.h"
#include "view/step_address.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

/// What the engine's plan says, in the words of every face.
void takeRollBack(PlanView& plan, const JobResult& result)
{
    const RollBackView& found = *std::get<std::shared_ptr<const RollBackView>>(result);
    plan.hash = found.plan.hash;
    plan.act = found.plan;
    plan.undo = "undo";
    plan.readBytes = found.plan.readBytes;
    plan.confirm = found.run;
    plan.changes = found.tensors;
    plan.facts = { { "Newest step", fmt::format("{}", found.from) },
                   { "Restores", fmt::format("step {}, which is {}", found.to, evidenceWords(found.evidence)) },
                   { "Is written as", fmt::format("step {}, a delta behind step {}", found.step, found.from) },
                   { "Changes",
                     fmt::format("{} of {} in {}", countText(found.changedElements),
                                 counted(found.totalElements, "element"), counted(found.changedTensors, "tensor")) } };
    plan.steps.clear();
    plan.steps.push_back({ "Read the states of both steps and compare them", found.plan.readBytes });
    for (const PlannedObjectView& object : found.plan.writes)
        plan.steps.push_back({ "Write " + object.key, 0 });
    plan.steps.push_back({ "List the run again, read the new step back and compare its root", 0 });
    for (const ProblemView& warning : found.plan.warnings)
        plan.warnings.push_back(warning.text);
}

BoundPlan boundTo(const RollBackRequest& request)
{
    BoundPlan plan;
    plan.prepare = [request](Service& service) { return service.rollBack(request); };
    plan.complete = takeRollBack;
    plan.start = [request](Service& service, const PlanView& view, const std::string& by) {
        RollBackRequest act = request;
        act.by = by;
        act.planHash = view.hash;
        return service.rollBack(act);
    };
    return plan;
}

Result<BoundPlan> planRollBackTo(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    DS_CHECK(expectRestorable(*step));
    BoundPlan plan = boundTo({ { scene.source, addressOf(*step) }, false, {}, {} });
    plan.view.title = fmt::format("Roll back {} to step {}", scene.snapshot.name, step->step);
    plan.view.cli =
        fmt::format("deltascope rollback {}{} --yes", quotedStep(scene.source, *step), sourceOptions(scene.source));
    return plan;
}

Result<BoundPlan> planUndo(const ActScene& scene, const CheckedArgs&)
{
    BoundPlan plan = boundTo({ { scene.source, {} }, true, {}, {} });
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
               { { "step", ActField::Type::Step, "Step", "The step whose state is published again.", "", true } } },
             planRollBackTo };
}

Act undoAct() { return { { "undo", "Undo", {} }, planUndo }; }

} // namespace deltascope::app
