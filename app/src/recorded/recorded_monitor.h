#pragma once

#include "monitor/listeners.h"
#include "recorded_service.h"
#include "service/job_answers.h"

namespace deltascope::app {

/// The alerts of a run as they were. What would have fired is found anew.
class RecordedAlerts final : public Alerts {
public:
    explicit RecordedAlerts(const RecordedRun& recorded)
        : m_recorded(recorded)
    {
    }

    Result<AlertView> acknowledge(const std::string&) override { return fail(onlyRecorded(m_recorded)); }
    Result<AlertView> snooze(const std::string&, std::int64_t) override { return fail(onlyRecorded(m_recorded)); }
    Result<void> set(const std::string&, bool, std::optional<double>) override
    {
        return fail(onlyRecorded(m_recorded));
    }
    AlertListView list(const std::string& run) const override;
    Result<BacktestView> backtest(const RunSnapshot& snapshot, const std::string& rule) const override
    {
        return m_engine.backtest(snapshot, rule);
    }

private:
    const RecordedRun& m_recorded;
    const AlertEngine m_engine; ///< for its rules
};

/// One run that does not move, and no acts.
class RecordedMonitor final : public Monitor {
public:
    /// Both outlive it.
    RecordedMonitor(const RecordedRun& recorded, RecordedService& service);

    std::string follow(SourceRequest request, std::string name, bool demo) override;
    void unfollow(const std::string&) override { }
    std::vector<std::shared_ptr<const RunSnapshot>> runs() const override { return { m_recorded.snapshot }; }
    std::shared_ptr<const RunSnapshot> run(const std::string& id) const override;
    std::optional<SourceRequest> sourceOf(const std::string& id) const override;
    void ask(const std::function<JobId(Service&)>& start, std::function<void(Result<JobResult>)> done) override
    {
        m_answers.ask(start, std::move(done));
    }
    Result<PlanView> plan(const std::string&, const ActRequest&, const std::string&) override
    {
        return fail(noWeights(m_recorded));
    }
    Result<PlanView> planned(const std::string&) override { return fail(noWeights(m_recorded)); }
    void dropPlan(const std::string&) override { }
    Result<TaskView> start(const std::string&, const std::string&, const std::string&) override { return refuse(); }
    std::vector<TaskView> tasks() const override { return {}; }
    std::optional<TaskView> task(const std::string&) const override { return std::nullopt; }
    Result<TaskView> pause(const std::string&) override { return refuse(); }
    Result<TaskView> cancel(const std::string&) override { return refuse(); }
    Result<TaskView> resume(const std::string&) override { return refuse(); }
    std::optional<ActRequest> requestOf(const std::string&) const override { return std::nullopt; }
    Alerts& alerts() noexcept override { return m_alerts; }
    AlertSender* sender() noexcept override { return nullptr; }
    std::shared_ptr<void> listen(std::function<void(const MonitorEvent&)> listener) override
    {
        return m_listeners.add(std::move(listener));
    }

private:
    Result<TaskView> refuse() const { return fail(onlyRecorded(m_recorded)); }

    const RecordedRun& m_recorded;
    RecordedAlerts m_alerts;
    Listeners m_listeners;
    JobAnswers m_answers;
};

} // namespace deltascope::app
