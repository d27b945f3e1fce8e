#include "acts/verify/verify_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "service/verify_jobs.h"
#include "view/step_address.h"
#include "view/verify_description.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

/// The newest step that is known and whole. Empty: there is none.
std::string newestStep(const RunView& run)
{
    for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
        for (auto step = epoch->steps.rbegin(); step != epoch->steps.rend(); ++step) {
            if (step->state != "gap" && step->state != "publishing")
                return addressOf(*step);
        }
    }
    return {};
}

Result<BoundPlan> planVerifyOf(const ActScene& scene, const CheckedArgs& args)
{
    const auto& [snapshot, source, options] = scene;
    const std::string& range = args.text("range");
    const auto level = args.whole("level");
    const bool acceptRewritten = args.flag("accept_rewritten");
    const std::string until = args.text("until").empty() ? newestStep(*snapshot.run) : args.text("until");
    BoundPlan plan;
    plan.settled = { { "until", until } };
    plan.call.act = {
        "verify",
        { { "range", range }, { "level", level }, { "until", until }, { "accept_rewritten", acceptRewritten } }
    };
    PlanView& view = plan.view;
    view.title = range.empty() ? "Verify " + snapshot.name : fmt::format("Verify {} of {}", range, snapshot.name);
    view.title += fmt::format(", level {}", level);
    const std::string where = range.empty() ? source.source.text() : source.source.text() + "@" + range;
    view.cli = fmt::format("deltascope verify {} --level {}{}{}", quotedPath(where), level, sourceOptions(source),
                           acceptOption(acceptRewritten));
    view.steps.push_back({ "Compare names, numbers and headers", 0 });
    if (level >= 2)
        view.steps.push_back({ "Read every object and compare its digests", 0 });
    if (level >= 3)
        view.steps.push_back({ "Replay the chains and compare tensors with their publisher's digests", 0 });
    if (level >= 4)
        view.steps.push_back({ "Compare anchors with the replay before them", 0 });
    return plan;
}

Result<JobResult> runVerify(const ActWork& work, TaskContext& task)
{
    const VerifyRequest request { work.call.source, work.args.text("range"), static_cast<int>(work.args.whole("level")),
                                  work.args.flag("accept_rewritten"), work.args.text("until") };
    if (work.isPlan()) {
        DS_TRY(PlannedReadView planned, planVerification(work.bench, request, task));
        return JobResult(std::make_shared<const PlannedReadView>(std::move(planned)));
    }
    DS_TRY(VerifyView view, verifyOf(work.bench, request, work.call.planHash, task));
    return JobResult(std::make_shared<const VerifyView>(std::move(view)));
}

void takeVerify(PlanView& plan, const JobResult& planned) { takePlannedRead(plan, planned); }

}

Act verifyAct()
{
    using Type = ActField::Type;
    return {
        { "verify",
          "Verify",
          "",
          { { "range", Type::Steps, "Steps", "12, 3..9 or 0:12; empty: all.", "" },
            { "level", Type::Whole, "Level", "0 looks at names, 4 replays and compares everything.", "2", false, 4 },
            { "until", Type::Step, "Up to", "Steps behind it are not read; empty: behind the newest one.", "" },
            { "accept_rewritten", Type::Flag, "Accept rewritten objects",
              "Trust what is there now instead of what was seen first, from now on.", "false" } },
          ActWay::OwnCommand },
        planVerifyOf,
        reportOf<VerifyView>(),
        runVerify,
        takeVerify
    };
}

VerifyArgs::operator ActRequest() const
{
    return { "verify",
             { { "range", range }, { "level", std::int64_t { level } }, { "accept_rewritten", acceptRewritten } } };
}

} // namespace deltascope::app
