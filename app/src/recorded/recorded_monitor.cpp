#include "recorded_monitor.h"

namespace deltascope::app {

AlertListView RecordedAlerts::list(const std::string& run) const
{
    AlertListView view = m_engine.list(run);
    if (run.empty() || run == m_recorded.snapshot->id)
        view.alerts = m_recorded.alerts;
    return view;
}

RecordedMonitor::RecordedMonitor(const RecordedRun& recorded, RecordedService& service)
    : m_recorded(recorded)
    , m_alerts(recorded)
    , m_answers(service)
{
}

std::string RecordedMonitor::follow(SourceRequest request, std::string, bool)
{
    return request.source == m_recorded.snapshot->source ? m_recorded.snapshot->id : std::string();
}

std::shared_ptr<const RunSnapshot> RecordedMonitor::run(const std::string& id) const
{
    return id == m_recorded.snapshot->id ? m_recorded.snapshot : nullptr;
}

std::optional<SourceRequest> RecordedMonitor::sourceOf(const std::string& id) const
{
    if (id != m_recorded.snapshot->id)
        return std::nullopt;
    SourceRequest source;
    source.source = m_recorded.snapshot->source;
    source.base = m_recorded.snapshot->base;
    return source;
}

} // namespace deltascope::app
