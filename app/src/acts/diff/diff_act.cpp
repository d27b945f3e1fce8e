#include "acts/diff/diff_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "service/diff_jobs.h"
#include "view/diff_description.h"
#include "view/step_address.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

Result<BoundPlan> planDiffOf(const ActScene& scene, const CheckedArgs& args)
{
    const auto& [snapshot, source, options] = scene;
    const bool acceptRewritten = args.flag("accept_rewritten");
    DS_TRY(const StepView* a, findStep(*snapshot.run, args.text("a")));
    DS_TRY(const StepView* b, findStep(*snapshot.run, args.text("b")));
    DS_CHECK(expectRestorable(*a));
    DS_CHECK(expectRestorable(*b));
    BoundPlan plan;
    PlanView& view = plan.view;
    view.title = fmt::format("Compare steps {} and {} of {}", a->step, b->step, snapshot.name);
    view.cli = fmt::format("deltascope diff {} {}{}{}", quotedStep(source, *a), quotedStep(source, *b),
                           sourceOptions(source), acceptOption(acceptRewritten));
    view.steps.push_back({ fmt::format("Replay step {}", a->step), a->restore.bytes });
    view.steps.push_back({ fmt::format("Replay step {} and compare every bit", b->step), b->restore.bytes });
    plan.settled = { { "a", addressOf(*a) }, { "b", addressOf(*b) } };
    plan.call.act = { "diff",
                      { { "a", addressOf(*a) }, { "b", addressOf(*b) }, { "accept_rewritten", acceptRewritten } } };
    return plan;
}

Result<JobResult> runDiff(const ActWork& work, TaskContext& task)
{
    const auto stateOf = [&work](const char* argument) {
        return VersionRequest { work.call.source, work.args.text(argument), work.args.flag("accept_rewritten") };
    };
    const DiffRequest request { stateOf("a"), stateOf("b") };
    if (work.isPlan()) {
        DS_TRY(PlannedReadView planned, planComparison(work.bench, request, task));
        return JobResult(std::make_shared<const PlannedReadView>(std::move(planned)));
    }
    DS_TRY(DiffView view, diffOf(work.bench, request, work.call.planHash, task));
    return JobResult(std::make_shared<const DiffView>(std::move(view)));
}

void takeDiff(PlanView& plan, const JobResult& planned) { takePlannedRead(plan, planned); }

}

Act diffAct()
{
    using Type = ActField::Type;
    return { { "diff",
               "Compare",
               "",
               { { "a", Type::Step, "Step A", "The step that is compared.", "", true },
                 { "b", Type::Step, "Step B", "The step that it is compared with.", "", true },
                 { "accept_rewritten", Type::Flag, "Accept rewritten objects",
                   "Use objects that were rewritten since they were first seen, this once.", "false" } },
               ActWay::OwnCommand },
             planDiffOf,
             reportOf<DiffView>(),
             runDiff,
             takeDiff };
}

DiffArgs::operator ActRequest() const
{
    return { "diff", { { "a", a }, { "b", b }, { "accept_rewritten", acceptRewritten } } };
}

} // namespace deltascope::app
