#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// Alerts as every face shows them (docs/alerts.md). Microseconds since 1970.

enum class AlertLevel : std::uint8_t { Info, Warn, Error };
enum class AlertState : std::uint8_t { Firing, Acked, Cleared };

std::string word(AlertLevel level); ///< info warn error
std::string word(AlertState state); ///< firing acked cleared

/// Of AlertView::snoozedUntilUs: as long as it fires.
inline constexpr std::int64_t UntilCleared = std::numeric_limits<std::int64_t>::max();

struct AlertView {
    std::string id;
    std::string rule; ///< "replica-lag"
    AlertLevel level = AlertLevel::Info;
    std::string run; ///< id of the run
    std::optional<std::int64_t> step;
    std::optional<std::string> replica;
    std::string title; ///< below 64 characters
    std::string text;
    std::string remedy;
    std::optional<double> value; ///< what was compared with the threshold
    std::optional<double> threshold;
    std::int64_t firstUs = 0;
    std::int64_t lastUs = 0; ///< when its condition last held
    std::optional<std::int64_t> clearedUs;
    std::uint64_t count = 1; ///< how often it happened since it began to fire
    AlertState state = AlertState::Firing;
    std::optional<std::int64_t> snoozedUntilUs; ///< no messages about it until then
};

struct AlertRuleView {
    std::string id;
    AlertLevel level = AlertLevel::Info; ///< the lowest one it fires with
    bool on = true;
    std::string what; ///< one sentence
    std::optional<double> threshold; ///< nothing: the rule has none, or none was set
    std::string unit; ///< empty: the rule has no threshold
};

/// Where messages about alerts go. The address is a secret.
struct AlertChannelView {
    std::string kind; ///< webhook slack discord command
    std::string name; ///< scheme and host, or the program
    AlertLevel minLevel = AlertLevel::Info;
    std::uint64_t sent = 0; ///< messages that arrived
    std::uint64_t failed = 0; ///< messages that were given up, or dropped from a full queue
    std::optional<bool> lastArrived; ///< whether the last message did; nothing: none has ended yet
    std::optional<std::int64_t> lastFailedUs;
    std::string lastFailure; ///< why; empty: none has failed
};

struct AlertListView {
    std::uint64_t revision = 0;
    std::vector<AlertView> alerts; ///< firing and acknowledged ones first, then the newest first
    std::vector<AlertRuleView> rules;
    std::vector<AlertChannelView> channels;
};

struct BacktestHitView {
    std::optional<std::int64_t> step;
    std::int64_t tUs = 0;
    std::string text;
};
/// When a rule would have fired on what is in the run.
struct BacktestView {
    std::string rule;
    std::string run;
    std::vector<BacktestHitView> fired; ///< in order of time
};

} // namespace deltascope::app
