#pragma once

#include "deltascope/app/view/alert_view.h"
#include "deltascope/app/view/summary_view.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// What one look at a run did to an alert.
struct AlertChange {
    enum class Kind : std::uint8_t {
        Fired,
        Repeated, ///< happened again, got worse, or says something else now
        Cleared,
    };
    Kind kind = Kind::Fired;
    AlertView alert;
    bool notify = false; ///< whether people should be told: not again before a growing time has passed
};

/// What rules have fired, and the rules (docs/alerts.md). Any thread.
class Alerts {
public:
    virtual ~Alerts() = default;

    /// Says that somebody takes care of it: no further messages until it gets worse or fires anew. Idempotent. Returns
    /// the alert as it is now. Errors: NotFound.
    virtual Result<AlertView> acknowledge(const std::string& id) = 0;

    /// Says nothing of it until that time, whatever it does; UntilCleared: as long as it fires. A time that is over:
    /// speaks again. Returns the alert as it is now. Errors: NotFound.
    virtual Result<AlertView> snooze(const std::string& id, std::int64_t untilUs) = 0;

    /// Switches a rule and sets its threshold; nothing: the default. What a rule that is off had fired is cleared at
    /// the next update. Errors: NotFound, Usage; those of keeping it (NoSpace, Auth, Io, Hostile): the rule is set, and
    /// a restart forgets it.
    virtual Result<void> set(const std::string& rule, bool on, std::optional<double> threshold) = 0;

    /// Of one run, or of all if `run` is empty; without channels.
    virtual AlertListView list(const std::string& run) const = 0;

    /// When a rule would have fired at the times at which the steps were published. Heartbeats leave no past: replicas
    /// are taken to serve what their spans say. Errors: NotFound (no such rule).
    virtual Result<BacktestView> backtest(const RunSnapshot& snapshot, const std::string& rule) const = 0;
};

/// Watches runs by the built-in rules and remembers what fired. It has no clock: every call brings the time.
class AlertEngine final : public Alerts {
public:
    /// `settingsFile`: where settings of rules outlive the program; empty: nowhere.
    explicit AlertEngine(const std::string& settingsFile = {});
    ~AlertEngine() override;
    AlertEngine(const AlertEngine&) = delete;
    AlertEngine& operator=(const AlertEngine&) = delete;

    /// Compares a run with the rules. To be called after every change and, since some rules are about silence, now and
    /// then in between. A run that is not open changes nothing.
    std::vector<AlertChange> update(const RunSnapshot& snapshot, std::int64_t nowUs);

    /// The rules that find something in a run that has not lasted long enough to fire, by name.
    std::vector<std::string> waiting(const std::string& run) const;

    /// Drops all alerts of a run.
    void forget(const std::string& run);

    Result<AlertView> acknowledge(const std::string& id) override;
    Result<AlertView> snooze(const std::string& id, std::int64_t untilUs) override;
    Result<void> set(const std::string& rule, bool on, std::optional<double> threshold) override;
    AlertListView list(const std::string& run) const override;
    Result<BacktestView> backtest(const RunSnapshot& snapshot, const std::string& rule) const override;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace deltascope::app
