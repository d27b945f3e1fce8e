#include "acts/verify/verify_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "view/verify_description.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

Result<BoundPlan> planVerify(const ActScene& scene, const CheckedArgs& args)
{
    const auto& [snapshot, source, options] = scene;
    const VerifyRequest request { source, args.text("range"), static_cast<int>(args.whole("level")),
                                  args.flag("accept_rewritten") };
    BoundPlan plan;
    PlanView& view = plan.view;
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
    plan.start = [request](Service& service, const PlanView&, const std::string&) { return service.verify(request); };
    seal(view, {});
    return plan;
}

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
            { "accept_rewritten", Type::Flag, "Accept rewritten objects",
              "Trust what is there now instead of what was seen first, from now on.", "false" } } },
        planVerify,
        reportOf<VerifyView>()
    };
}

VerifyArgs::operator ActRequest() const
{
    return { "verify",
             { { "range", range }, { "level", std::int64_t { level } }, { "accept_rewritten", acceptRewritten } } };
}

} // namespace deltascope::app
