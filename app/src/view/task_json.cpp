#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"

#include "annotations_description.h"
#include "json_parts.h"

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
            else if constexpr (std::is_same_v<View, RollBackView>)
                return json(*view);
            else if constexpr (std::is_same_v<View, AnnotatedView>)
                return written(*view);
            else
                return nullptr;
        },
        *result);
}

}

std::string toJson(const PlanView& view)
{
    ordered_json steps = ordered_json::array();
    for (const PlanStepView& step : view.steps)
        steps.push_back({ { "text", step.text }, { "bytes", step.bytes } });
    ordered_json facts = ordered_json::array();
    for (const PlanFactView& fact : view.facts)
        facts.push_back({ { "label", fact.label }, { "text", fact.text } });
    return dump({ { "id", view.id },
                  { "hash", view.hash },
                  { "kind", view.kind },
                  { "run", view.run },
                  { "state", view.state },
                  { "phase", view.phase },
                  { "done", view.doneBytes },
                  { "total", view.totalBytes },
                  { "problem", written(view.problem) },
                  { "title", view.title },
                  { "cli", view.cli },
                  { "facts", std::move(facts) },
                  { "steps", std::move(steps) },
                  { "read_bytes", view.readBytes },
                  { "write_bytes", view.writeBytes },
                  { "free_bytes", orNull(view.freeBytes) },
                  { "destination", view.destination.empty() ? ordered_json(nullptr) : ordered_json(view.destination) },
                  { "warnings", view.warnings },
                  { "act", view.act ? json(*view.act) : ordered_json(nullptr) },
                  { "changes", json(view.changes) },
                  { "confirm", view.confirm.empty() ? ordered_json(nullptr) : ordered_json(view.confirm) },
                  { "undo", view.undo.empty() ? ordered_json(nullptr) : ordered_json(view.undo) },
                  { "requires", { "act" } } });
}

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
