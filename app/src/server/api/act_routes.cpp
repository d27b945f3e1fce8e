#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "view/act_request_json.h"

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

/// Empty if it is not there.
Result<std::string> textOf(const json& object, const char* key)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return std::string();
    if (!found->is_string())
        return fail(Code::Usage, fmt::format("\"{}\" has another type", key));
    return found->get<std::string>();
}

Result<HttpResponse> makePlan(Context& context, const Call& call)
{
    DS_TRY(const json body, bodyOf(call));
    DS_TRY(const ActRequest request, readActRequest(body));
    DS_TRY(const PlanView plan, context.monitor.plan(call.parts[0], request, call.request.principal.name));
    return jsonAnswer(toJson(plan));
}

Result<HttpResponse> runPlan(Context& context, const Call& call)
{
    DS_TRY(const json body, bodyOf(call));
    DS_TRY(const std::string hash, textOf(body, "hash"));
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
    routes.add("GET", "acts", Scope::Read,
               answering([](const Call&) -> Result<HttpResponse> { return jsonAnswer(toJson(actInfos())); }));
    routes.add("GET", "plans/{}", Scope::Read, answering([&](const Call& call) -> Result<HttpResponse> {
                   DS_TRY(const PlanView plan, context.monitor.planned(call.parts[0]));
                   return jsonAnswer(toJson(plan));
               }));
    routes.add("POST", "plans/{}/drop", Scope::Read, answering([&](const Call& call) -> Result<HttpResponse> {
                   context.monitor.dropPlan(call.parts[0]);
                   return jsonAnswer("{}");
               }));
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
                   const std::optional<ActRequest> request = context.monitor.requestOf(call.parts[0]);
                   if (!request)
                       return fail(Code::NotFound, "there is no such task", call.parts[0]);
                   return jsonAnswer(jsonOf(*request).dump());
               }));
    routes.add("POST", "tasks/{}/{}", Scope::Act, answering([&](const Call& call) { return steer(context, call); }));
}

} // namespace deltascope::server
