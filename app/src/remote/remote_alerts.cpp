#include "remote_alerts.h"

#include "view/alert_description.h"
#include "view/io/json_reader.h"

#include <algorithm>
#include <chrono>

namespace deltascope::app {

namespace {

/// How an alert moved; nothing if it did not.
std::optional<AlertChange> changeOf(const AlertView* before, const AlertView& now)
{
    const bool fires = now.state != AlertState::Cleared;
    const bool fired = before && before->state != AlertState::Cleared;
    if (fires && !fired) {
        const bool quiet = now.state != AlertState::Firing || now.snoozedUntilUs;
        return AlertChange { AlertChange::Kind::Fired, now, !quiet };
    }
    if (!fires)
        return fired ? std::optional(AlertChange { AlertChange::Kind::Cleared, now, false }) : std::nullopt;
    const bool same = before->count == now.count && before->level == now.level && before->state == now.state
        && before->text == now.text && before->snoozedUntilUs == now.snoozedUntilUs;
    return same ? std::nullopt : std::optional(AlertChange { AlertChange::Kind::Repeated, now, false });
}

}

Result<std::vector<AlertChange>> RemoteAlerts::refresh()
{
    for (;;) {
        const std::uint64_t asked = posts();
        DS_TRY(const std::string answer, m_wire.get("alerts"));
        DS_TRY(AlertListView view, readJson(answer, readAs<AlertListView>));
        const std::lock_guard lock(m_mutex);
        if (m_posts != asked) // the answer may be older than what was posted meanwhile
            continue;
        take(std::move(view));
        return std::exchange(m_untold, {});
    }
}

std::uint64_t RemoteAlerts::posts() const
{
    const std::lock_guard lock(m_mutex);
    return m_posts;
}

/// With m_mutex held.
void RemoteAlerts::take(AlertListView view)
{
    const AlertListView before = std::exchange(m_list, std::move(view));
    if (!std::exchange(m_known, true))
        return;
    for (const AlertView& now : m_list.alerts) {
        const auto old = std::find_if(before.alerts.begin(), before.alerts.end(),
                                      [&](const AlertView& alert) { return alert.id == now.id; });
        if (auto change = changeOf(old == before.alerts.end() ? nullptr : &*old, now))
            m_untold.push_back(std::move(*change));
    }
}

Result<AlertView> RemoteAlerts::post(const std::string& path, const std::string& body)
{
    DS_TRY(const std::string answer, m_wire.post(path, body));
    DS_TRY(const AlertView alert, readJson(answer, readAs<AlertView>));
    const std::lock_guard lock(m_mutex);
    ++m_posts;
    for (AlertView& known : m_list.alerts) {
        if (known.id == alert.id)
            known = alert;
    }
    return alert;
}

Result<AlertView> RemoteAlerts::acknowledge(const std::string& id)
{
    return post("alerts/" + pathPart(id) + "/ack", "{}");
}

Result<AlertView> RemoteAlerts::snooze(const std::string& id, std::int64_t untilUs)
{
    using namespace std::chrono;
    const auto nowUs = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
    json minutes = nullptr;
    if (untilUs != UntilCleared)
        minutes = std::max(0.0, static_cast<double>(untilUs - nowUs) / 60e6);
    return post("alerts/" + pathPart(id) + "/snooze", json { { "minutes", minutes } }.dump());
}

Result<void> RemoteAlerts::set(const std::string& rule, bool on, std::optional<double> threshold)
{
    const json body = { { "on", on }, { "threshold", threshold ? json(*threshold) : json(nullptr) } };
    DS_TRY(const std::string answer, m_wire.post("alerts/rules/" + pathPart(rule), body.dump()));
    DS_TRY(AlertListView view, readJson(answer, readAs<AlertListView>));
    const std::lock_guard lock(m_mutex);
    ++m_posts;
    take(std::move(view));
    return {};
}

AlertListView RemoteAlerts::list(const std::string& run) const
{
    const std::lock_guard lock(m_mutex);
    AlertListView view = m_list;
    std::erase_if(view.alerts, [&](const AlertView& alert) { return !run.empty() && alert.run != run; });
    return view;
}

Result<BacktestView> RemoteAlerts::backtest(const RunSnapshot& snapshot, const std::string& rule) const
{
    DS_TRY(const std::string answer, m_wire.get("alerts/backtest", { { "run", snapshot.id }, { "rule", rule } }));
    return readJson(answer, readAs<BacktestView>);
}

} // namespace deltascope::app
