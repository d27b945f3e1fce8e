#include "context.h"

#include "deltascope/app/view/json.h"

#include <nlohmann/json.hpp>

namespace deltascope::server {

using namespace app;
using nlohmann::json;

namespace {

Result<HttpResponse> acknowledge(Context& context, const Call& call)
{
    DS_TRY(const AlertView alert, context.monitor.alerts().acknowledge(call.parts[0]));
    std::string body = toJson(alert);
    context.hub.publish("alert", alert.run, body);
    return jsonAnswer(std::move(body));
}

Result<HttpResponse> setRule(Context& context, const Call& call)
{
    const json body = json::parse(call.request.body, nullptr, false);
    const auto on = body.is_object() ? body.find("on") : body.end();
    if (!body.is_object() || on == body.end() || !on->is_boolean())
        return fail(Code::Usage, R"(a rule is set with {"on": true or false, "threshold": a number or null})");
    std::optional<double> threshold;
    if (const auto found = body.find("threshold"); found != body.end() && found->is_number())
        threshold = found->get<double>();
    DS_CHECK(context.monitor.alerts().set(call.parts[0], on->get<bool>(), threshold));
    return jsonAnswer(toJson(context.monitor.alerts().list({})));
}

Result<HttpResponse> backtest(Context& context, const Call& call)
{
    const std::string id = textOf(call.request, "run");
    const std::shared_ptr<const RunSnapshot> snapshot = context.monitor.run(id);
    if (!snapshot)
        return fail(Code::NotFound, "there is no such run", id);
    DS_TRY(const BacktestView view, context.monitor.alerts().backtest(*snapshot, textOf(call.request, "rule")));
    return jsonAnswer(toJson(view));
}

}

void addAlertRoutes(Routes& routes, Context& context)
{
    routes.add("GET", "alerts", Scope::Read, answering([&](const Call& call) -> Result<HttpResponse> {
                   AlertListView view = context.monitor.alerts().list(textOf(call.request, "run"));
                   view.channels = context.options.channels;
                   return jsonAnswer(toJson(view));
               }));
    routes.add("GET", "alerts/backtest", Scope::Read,
               answering([&](const Call& call) { return backtest(context, call); }));
    routes.add("POST", "alerts/{}/ack", Scope::Act,
               answering([&](const Call& call) { return acknowledge(context, call); }));
    routes.add("POST", "alerts/rules/{}", Scope::Admin,
               answering([&](const Call& call) { return setRule(context, call); }));
}

} // namespace deltascope::server
