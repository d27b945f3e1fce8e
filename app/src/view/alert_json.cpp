#include "deltascope/app/view/json.h"

#include "json_parts.h"

#include <array>

namespace deltascope::app {

namespace {

ordered_json json(const AlertView& alert)
{
    ordered_json snoozed = orNull(alert.snoozedUntilUs);
    if (alert.snoozedUntilUs == UntilCleared)
        snoozed = "until_cleared";
    return { { "id", alert.id },
             { "rule", alert.rule },
             { "level", word(alert.level) },
             { "run", alert.run },
             { "step", orNull(alert.step) },
             { "replica", orNull(alert.replica) },
             { "value", orNull(alert.value) },
             { "threshold", orNull(alert.threshold) },
             { "title", alert.title },
             { "text", alert.text },
             { "remedy", alert.remedy },
             { "first_us", alert.firstUs },
             { "last_us", alert.lastUs },
             { "cleared_us", orNull(alert.clearedUs) },
             { "count", alert.count },
             { "state", word(alert.state) },
             { "snoozed", snoozed } };
}

ordered_json json(const AlertRuleView& rule)
{
    return { { "id", rule.id },
             { "level", word(rule.level) },
             { "on", rule.on },
             { "what", rule.what },
             { "threshold", orNull(rule.threshold) },
             { "unit", rule.unit.empty() ? ordered_json(nullptr) : ordered_json(rule.unit) } };
}

ordered_json json(const AlertChannelView& channel)
{
    return { { "kind", channel.kind }, { "name", channel.name }, { "min_level", word(channel.minLevel) } };
}

ordered_json json(const BacktestHitView& hit)
{
    return { { "step", orNull(hit.step) }, { "t_us", hit.tUs }, { "text", hit.text } };
}

template <class View> ordered_json json(const std::vector<View>& views)
{
    ordered_json list = ordered_json::array();
    for (const View& view : views)
        list.push_back(json(view));
    return list;
}

}

std::string word(AlertLevel level)
{
    constexpr std::array<const char*, 3> Words = { "info", "warn", "error" };
    return Words[static_cast<std::size_t>(level)];
}

std::string word(AlertState state)
{
    constexpr std::array<const char*, 3> Words = { "firing", "acked", "cleared" };
    return Words[static_cast<std::size_t>(state)];
}

std::string toJson(const AlertView& view) { return dump(json(view)); }

std::string toJson(const AlertListView& view)
{
    return dump({ { "rev", view.revision },
                  { "alerts", json(view.alerts) },
                  { "rules", json(view.rules) },
                  { "channels", json(view.channels) } });
}

std::string toJson(const BacktestView& view)
{
    return dump({ { "rule", view.rule }, { "run", view.run }, { "fired", json(view.fired) } });
}

} // namespace deltascope::app
