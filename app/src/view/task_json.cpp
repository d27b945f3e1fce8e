#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"

#include "annotations_description.h"
#include "json_parts.h"
#include "plan_description.h"

namespace deltascope::app {

namespace {

ordered_json resultOf(const std::optional<JobResult>& result)
{
    if (!result)
        return nullptr;
    return std::visit(
        [](const auto& view) -> ordered_json {
            using View = std::decay_t<decltype(*view)>;
            if constexpr (std::is_same_v<
                              View,
                              DiffView> || std::is_same_v<View, VerifyView> || std::is_same_v<View, MaterializeView>)
                return ordered_json::parse(toJson(*view));
            else if constexpr (
                std::is_same_v<View,
                               RollBackView> || std::is_same_v<View, BranchView> || std::is_same_v<View, AnnotatedView>)
                return written(*view);
            else
                return nullptr;
        },
        *result);
}

}

std::string toJson(const PlanView& view) { return dump(written(view)); }

std::string toJson(const TaskView& view)
{
    const std::string accept = mayAcceptRewritten(view) ? acceptRewrittenText(view.plan.kind) : std::string();
    return dump({ { "id", view.id },
                  { "kind", view.plan.kind },
                  { "title", view.plan.title },
                  { "run", view.plan.run },
                  { "state", view.state },
                  { "phase", view.phase },
                  { "done", view.doneBytes },
                  { "total", view.totalBytes },
                  { "rate", view.bytesPerSecond },
                  { "eta_s", orNull(view.secondsLeft) },
                  { "elapsed_s", view.seconds },
                  { "started_us", view.startedUs },
                  { "by", view.by },
                  { "cli", view.plan.cli },
                  { "plan_hash", view.plan.hash },
                  { "undo", view.plan.undo.empty() ? ordered_json(nullptr) : ordered_json(view.plan.undo) },
                  { "resumable", view.resumable },
                  { "interrupted", view.interrupted },
                  { "accept_rewritten", accept.empty() ? ordered_json(nullptr) : ordered_json(accept) },
                  { "problem", written(view.problem) },
                  { "not_kept", written(view.notKept) },
                  { "result", resultOf(view.result) } });
}

} // namespace deltascope::app
