#pragma once

#include "deltascope/app/alerts.h"

#include "wire.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope::app {

/// The alerts of a server: what it told last. What changes something waits for the server. Any thread.
class RemoteAlerts final : public Alerts {
public:
    explicit RemoteAlerts(Wire& wire)
        : m_wire(wire)
    {
    }

    /// Asks for all of them. Returns what moved since the last time; nothing the first time.
    Result<std::vector<AlertChange>> refresh();

    Result<AlertView> acknowledge(const std::string& id) override;
    Result<AlertView> snooze(const std::string& id, std::int64_t untilUs) override;
    Result<void> set(const std::string& rule, bool on, std::optional<double> threshold) override;
    AlertListView list(const std::string& run) const override;
    Result<BacktestView> backtest(const RunSnapshot& snapshot, const std::string& rule) const override;

private:
    Result<AlertView> post(const std::string& path, const std::string& body);
    std::uint64_t posts() const;
    void take(AlertListView view);

    Wire& m_wire;
    mutable std::mutex m_mutex; ///< guards what follows
    AlertListView m_list;
    std::uint64_t m_posts = 0; ///< that the server answered
    std::vector<AlertChange> m_untold; ///< since the last refresh()
    bool m_known = false; ///< the server was asked before
};

} // namespace deltascope::app
