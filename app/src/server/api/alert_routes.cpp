#include "context.h"

#include "deltascope/app/view/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace deltascope::server {

using namespace app;
using nlohmann::json;

namespace {

/// With the channels.
AlertListView listOf(Context& context, const std::string& run)
{
    AlertListView view = context.monitor.alerts().list(run);
    if (const AlertSender* sender = context.monitor.sender())
        view.channels = sender->channels();
    return view;
}

Result<HttpResponse> acknowledge(Context& context, const Call& call)
{
    DS_TRY(const AlertView alert, context.monitor.alerts().acknowledge(call.parts[0]));
    std::string body = toJson(alert);
    context.hub.publishNow("alert", alert.run, body, alert.id);
    return jsonAnswer(std::move(body));
}

/// Says nothing for so many minutes; null: until it clears; 0: speaks again.
Result<HttpResponse> snooze(Context& context, const Call& call)
{
    constexpr double MostMinutes = 366.0 * 24 * 60;
    const json body = json::parse(call.request.body, nullptr, false);
    const auto minutes = body.is_object() ? body.find("minutes") : body.end();
    const bool isLength = body.is_object() && minutes != body.end() && minutes->is_number()
        && minutes->get<double>() >= 0 && minutes->get<double>() <= MostMinutes;
    if (!isLength && !(body.is_object() && minutes != body.end() && minutes->is_null()))
        return fail(Code::Usage, R"(an alert is snoozed with {"minutes": a number, or null for until it clears})");
    const std::int64_t until =
        isLength ? Context::nowUs() + static_cast<std::int64_t>(minutes->get<double>() * 60e6) : UntilCleared;
    DS_TRY(const AlertView alert, context.monitor.alerts().snooze(call.parts[0], until));
    std::string answer = toJson(alert);
    context.hub.publishNow("alert", alert.run, answer, alert.id);
    return jsonAnswer(std::move(answer));
}

/// As it is set. Nothing: the rule has none, or there is no such rule.
std::optional<double> thresholdOf(Context& context, std::string_view id)
{
    const std::vector<AlertRuleView> rules = context.monitor.alerts().list({}).rules;
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const AlertRuleView& one) { return one.id == id; });
    return rule == rules.end() ? std::nullopt : rule->threshold;
}

Result<HttpResponse> setRule(Context& context, const Call& call)
{
    const json body = json::parse(call.request.body, nullptr, false);
    const auto on = body.is_object() ? body.find("on") : body.end();
    if (!body.is_object() || on == body.end() || !on->is_boolean())
        return fail(Code::Usage,
                    R"(a rule is set with {"on": true or false, "threshold": a number, or null for the default})");
    std::optional<double> threshold;
    if (const auto found = body.find("threshold"); found == body.end())
        threshold = thresholdOf(context, call.parts[0]);
    else if (found->is_number())
        threshold = found->get<double>();
    DS_CHECK(context.monitor.alerts().set(call.parts[0], on->get<bool>(), threshold));
    return jsonAnswer(toJson(listOf(context, {})));
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
                   const std::string run = textOf(call.request, "run");
                   if (!run.empty() && !context.monitor.run(run))
                       return fail(Code::NotFound, "there is no such run", run);
                   return jsonAnswer(toJson(listOf(context, run)));
               }));
    routes.add("GET", "alerts/backtest", Scope::Read,
               answering([&](const Call& call) { return backtest(context, call); }));
    routes.add("POST", "alerts/{}/ack", Scope::Act,
               answering([&](const Call& call) { return acknowledge(context, call); }));
    routes.add("POST", "alerts/{}/snooze", Scope::Act,
               answering([&](const Call& call) { return snooze(context, call); }));
    routes.add("POST", "alerts/rules/{}", Scope::Admin,
               answering([&](const Call& call) { return setRule(context, call); }));
}

} // namespace deltascope::server
