#include "acts/diff/diff_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "view/diff_description.h"
#include "view/step_address.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

Result<BoundPlan> planDiff(const ActScene& scene, const CheckedArgs& args)
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
    view.readBytes = a->restore.bytes + b->restore.bytes;
    view.steps.push_back({ fmt::format("Replay step {}", a->step), a->restore.bytes });
    view.steps.push_back({ fmt::format("Replay step {} and compare every bit", b->step), b->restore.bytes });
    const VersionRequest left { source, addressOf(*a), acceptRewritten };
    const VersionRequest right { source, addressOf(*b), acceptRewritten };
    plan.start = [left, right](Service& service, const PlanView&, const std::string&) {
        return service.diff(left, right);
    };
    seal(view, stateOf(snapshot, *a) + stateOf(snapshot, *b));
    return plan;
}

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
                   "Use objects that were rewritten since they were first seen, this once.", "false" } } },
             planDiff,
             reportOf<DiffView>() };
}

DiffArgs::operator ActRequest() const
{
    return { "diff", { { "a", a }, { "b", b }, { "accept_rewritten", acceptRewritten } } };
}

} // namespace deltascope::app
