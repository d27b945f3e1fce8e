#pragma once

#include "deltascope/app/view/alert_view.h"

#include "io/forms.h"

namespace deltascope::app {

inline constexpr WordSet AlertLevels { "AlertLevel", { "info", "warn", "error" } };
inline constexpr WordSet AlertStates { "", { "firing", "acked", "cleared" } };
inline constexpr WordSet AlertChannels { "", { "webhook", "slack", "discord", "command" } };

template <class Io> void describe(Io& io, Of<Io, AlertView>& alert)
{
    io.type("Alert", "A rule that fires, or has fired, on a run.");
    io("id", alert.id);
    io("rule", alert.rule, "\"replica-lag\"");
    io("level", word(alert.level, AlertLevels));
    io("run", alert.run);
    io("step", alert.step);
    io("replica", alert.replica);
    io("value", alert.value, "what was compared with the threshold; null where a rule compares no number");
    io("threshold", alert.threshold);
    io("title", alert.title);
    io("text", alert.text);
    io("remedy", alert.remedy);
    io("first_us", alert.firstUs);
    io("last_us", alert.lastUs, "when its condition last held");
    io("cleared_us", alert.clearedUs);
    io("count", alert.count, "how often it happened since it began to fire");
    io("state", word(alert.state, AlertStates));
    io("snoozed", orWord(alert.snoozedUntilUs, UntilCleared, "until_cleared"), "µs: no messages until then");
}

template <class Io> void describe(Io& io, Of<Io, AlertRuleView>& rule)
{
    io.type("AlertRule", "What alerts are made by.");
    io("id", rule.id);
    io("level", word(rule.level, AlertLevels), "the lowest one it fires with");
    io("on", rule.on);
    io("what", rule.what, "one sentence");
    io("threshold", rule.threshold, "null: the rule has none, or none was set");
    io("unit", nullIfEmpty(rule.unit), "null: the rule has no threshold");
}

template <class Io> void describe(Io& io, Of<Io, AlertChannelView>& channel)
{
    io.type("AlertChannel", "Where messages about alerts go.");
    io("kind", word(channel.kind, AlertChannels));
    io("name", channel.name, "scheme and host, or the program; never the URL");
    io("min_level", word(channel.minLevel, AlertLevels));
    if (!io.has("sent")) // a server of an earlier version does not count messages
        return;
    io("sent", channel.sent, "messages that arrived since the daemon began");
    io("failed", channel.failed, "messages that were given up, or dropped from a full queue");
    io("last_arrived", channel.lastArrived, "whether the last message did; null: none has ended yet");
    io("last_failed_us", channel.lastFailedUs, "when a message failed last; null: none has");
    io("last_failure", nullIfEmpty(channel.lastFailure), "why; never the URL");
}

template <class Io> void describe(Io& io, Of<Io, AlertListView>& list)
{
    io.type("AlertList", "All alerts, and what makes and sends them.");
    io("rev", list.revision);
    io("alerts", list.alerts, "firing first, then newest first");
    io("rules", list.rules);
    io("channels", list.channels);
}

template <class Io> void describe(Io& io, Of<Io, BacktestHitView>& hit)
{
    io.type("BacktestHit", "A time at which the rule would have fired.");
    io("step", hit.step);
    io("t_us", hit.tUs);
    io("text", hit.text);
}

template <class Io> void describe(Io& io, Of<Io, BacktestView>& backtest)
{
    io.type("Backtest", "When a rule would have fired on what is in the run.");
    io("rule", backtest.rule);
    io("run", backtest.run);
    io("fired", backtest.fired, "in order of time");
}

} // namespace deltascope::app
