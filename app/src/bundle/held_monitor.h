#pragma once

#include "moment.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::bundle {

/// The alerts of a moment.
class HeldAlerts final : public app::Alerts {
public:
    HeldAlerts(app::Alerts& alerts, const app::AlertListView& held)
        : m_alerts(alerts)
        , m_held(held)
    {
    }

    Result<app::AlertView> acknowledge(const std::string& id) override { return m_alerts.acknowledge(id); }
    Result<app::AlertView> snooze(const std::string& id, std::int64_t untilUs) override
    {
        return m_alerts.snooze(id, untilUs);
    }
    Result<void> set(const std::string& rule, bool on, std::optional<double> threshold) override
    {
        return m_alerts.set(rule, on, threshold);
    }
    app::AlertListView list(const std::string& run) const override;
    Result<app::BacktestView> backtest(const app::RunSnapshot& snapshot, const std::string& rule) const override
    {
        return m_alerts.backtest(snapshot, rule);
    }

private:
    app::Alerts& m_alerts;
    const app::AlertListView& m_held;
};

/// A monitor whose runs do not move. Jobs read the source as it is when they run; what they end with is brought to the
/// moment: the listing, which is read once, versions, refs and notes. The journal is that of its reading.
class HeldMonitor final : public app::Monitor {
public:
    /// Both outlive it.
    HeldMonitor(app::Monitor& monitor, const Moment& moment);

    std::string follow(app::SourceRequest request, std::string name, bool demo) override
    {
        return m_monitor.follow(std::move(request), std::move(name), demo);
    }
    void unfollow(const std::string& id) override { m_monitor.unfollow(id); }
    std::vector<std::shared_ptr<const app::RunSnapshot>> runs() const override { return m_moment.runs; }
    std::shared_ptr<const app::RunSnapshot> run(const std::string& id) const override;
    std::optional<app::SourceRequest> sourceOf(const std::string& id) const override { return m_monitor.sourceOf(id); }
    /// A version that is another one now ends with Rewritten.
    void ask(const std::function<app::JobId(app::Service&)>& start,
             std::function<void(Result<app::JobResult>)> done) override;
    Result<app::PlanView> plan(const std::string& run, const app::ActRequest& request, const std::string& by) override
    {
        return m_monitor.plan(run, request, by);
    }
    Result<app::PlanView> planned(const std::string& plan) override { return m_monitor.planned(plan); }
    void dropPlan(const std::string& plan) override { m_monitor.dropPlan(plan); }
    Result<app::TaskView> start(const std::string& plan, const std::string& hash, const std::string& by) override
    {
        return m_monitor.start(plan, hash, by);
    }
    std::vector<app::TaskView> tasks() const override { return m_monitor.tasks(); }
    std::optional<app::TaskView> task(const std::string& id) const override { return m_monitor.task(id); }
    Result<app::TaskView> pause(const std::string& id) override { return m_monitor.pause(id); }
    Result<app::TaskView> cancel(const std::string& id) override { return m_monitor.cancel(id); }
    Result<app::TaskView> resume(const std::string& id) override { return m_monitor.resume(id); }
    std::optional<app::ActRequest> requestOf(const std::string& task) const override
    {
        return m_monitor.requestOf(task);
    }
    app::Alerts& alerts() noexcept override { return m_alerts; }
    app::AlertSender* sender() noexcept override { return m_monitor.sender(); }
    std::shared_ptr<void> listen(std::function<void(const app::MonitorEvent&)>) override { return {}; }

    /// Whether objects came, went or changed between the moment and the listing.
    bool hasListingMoved() const noexcept { return m_hasListingMoved; }

private:
    Result<app::JobResult> atMoment(app::JobResult result);

    app::Monitor& m_monitor;
    const Moment& m_moment;
    HeldAlerts m_alerts;
    std::shared_ptr<const app::ListingView> m_listing; ///< of the monitor's own thread
    bool m_hasListingMoved = false;
};

} // namespace deltascope::bundle
