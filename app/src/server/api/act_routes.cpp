#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "view/plan_request_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope::server {

using namespace app;
using nlohmann::json;

namespace {

Result<json> bodyOf(const Call& call)
{
    json body = json::parse(call.request.body, nullptr, false);
    if (!body.is_object())
        return fail(Code::Usage, "the body is no JSON object");
    return body;
}

template <class T> Result<T> fieldOf(const json& object, const char* key, T missing)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return missing;
    const bool fits = std::is_same_v<T, bool> ? found->is_boolean()
        : std::is_same_v<T, std::string>      ? found->is_string()
                                              : found->is_number_unsigned();
    if (!fits)
        return fail(Code::Usage, fmt::format("\"{}\" has another type", key));
    return found->template get<T>();
}

Result<PlanRequest> materializeOf(const json& args)
{
    MaterializePlan plan;
    DS_TRY(plan.step, fieldOf(args, "step", std::string()));
    DS_TRY(plan.to, fieldOf(args, "to", std::string()));
    DS_TRY(plan.shardBytes, fieldOf(args, "shard_bytes", std::uint64_t { 0 }));
    DS_TRY(plan.acrossGap, fieldOf(args, "across_gap", false));
    DS_TRY(plan.acceptRewritten, fieldOf(args, "accept_rewritten", false));
    DS_TRY(const std::string state, fieldOf(args, "state", std::string("served")));
    if (state != "served" && state != "trained")
        return fail(Code::Usage, "a state is served or trained", state);
    plan.trained = state == "trained";
    return PlanRequest(plan);
}

Result<PlanRequest> planRequestOf(const json& body)
{
    DS_TRY(const std::string kind, fieldOf(body, "kind", std::string()));
    const json args = body.value("args", json::object());
    if (!args.is_object())
        return fail(Code::Usage, "\"args\" is no JSON object");
    if (kind == "materialize")
        return materializeOf(args);
    if (kind == "verify") {
        VerifyPlan plan;
        DS_TRY(plan.range, fieldOf(args, "range", std::string()));
        DS_TRY(const std::uint64_t level, fieldOf(args, "level", std::uint64_t { 2 }));
        plan.level = level > 4 ? 5 : static_cast<int>(level);
        DS_TRY(plan.acceptRewritten, fieldOf(args, "accept_rewritten", false));
        return PlanRequest(plan);
    }
    if (kind == "diff") {
        DiffPlan plan;
        DS_TRY(plan.a, fieldOf(args, "a", std::string()));
        DS_TRY(plan.b, fieldOf(args, "b", std::string()));
        DS_TRY(plan.acceptRewritten, fieldOf(args, "accept_rewritten", false));
        return PlanRequest(plan);
    }
    return fail(Code::Usage, "a plan is of kind materialize, verify or diff", kind);
}

Result<HttpResponse> makePlan(Context& context, const Call& call)
{
    DS_TRY(const json body, bodyOf(call));
    DS_TRY(const PlanRequest request, planRequestOf(body));
    DS_TRY(const PlanView plan, context.monitor.plan(call.parts[0], request, call.request.principal.name));
    return jsonAnswer(toJson(plan));
}

Result<HttpResponse> runPlan(Context& context, const Call& call)
{
    DS_TRY(const json body, bodyOf(call));
    DS_TRY(const std::string hash, fieldOf(body, "hash", std::string()));
    DS_TRY(const TaskView task, context.monitor.start(call.parts[0], hash, call.request.principal.name));
    HttpResponse answer = jsonAnswer(toJson(task));
    answer.status = 202;
    return answer;
}

HttpResponse listTasks(Context& context)
{
    std::string list;
    for (const TaskView& task : context.monitor.tasks())
        list += (list.empty() ? "" : ",") + toJson(task);
    return jsonAnswer("{\"tasks\":[" + list + "]}");
}

Result<HttpResponse> steer(Context& context, const Call& call)
{
    const std::string& id = call.parts[0];
    const std::string& verb = call.parts[1];
    if (verb != "pause" && verb != "cancel" && verb != "resume")
        return fail(Code::NotFound, "tasks can be paused, canceled and resumed", verb);
    DS_TRY(const TaskView task,
           verb == "pause"        ? context.monitor.pause(id)
               : verb == "cancel" ? context.monitor.cancel(id)
                                  : context.monitor.resume(id));
    return jsonAnswer(toJson(task));
}

}

void addActRoutes(Routes& routes, Context& context)
{
    // A plan acts on nothing, so reading is enough.
    routes.add("POST", "runs/{}/plans", Scope::Read,
               answering([&](const Call& call) { return makePlan(context, call); }));
    routes.add("POST", "plans/{}/run", Scope::Act, answering([&](const Call& call) { return runPlan(context, call); }));
    routes.add("GET", "tasks", Scope::Read,
               answering([&](const Call&) -> Result<HttpResponse> { return listTasks(context); }));
    routes.add("GET", "tasks/{}", Scope::Read, answering([&](const Call& call) -> Result<HttpResponse> {
                   const std::optional<TaskView> task = context.monitor.task(call.parts[0]);
                   if (!task)
                       return fail(Code::NotFound, "there is no such task", call.parts[0]);
                   return jsonAnswer(toJson(*task));
               }));
    routes.add("GET", "tasks/{}/request", Scope::Read, answering([&](const Call& call) -> Result<HttpResponse> {
                   const std::optional<PlanRequest> request = context.monitor.requestOf(call.parts[0]);
                   if (!request)
                       return fail(Code::NotFound, "there is no such task", call.parts[0]);
                   return jsonAnswer(toJson(*request));
               }));
    routes.add("POST", "tasks/{}/{}", Scope::Act, answering([&](const Call& call) { return steer(context, call); }));
}

} // namespace deltascope::server
