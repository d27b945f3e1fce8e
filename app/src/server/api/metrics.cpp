#include "context.h"

#include <fmt/format.h>
#include <map>

namespace deltascope::server {

using namespace app;

namespace {

std::string escaped(const std::string& label)
{
    std::string text;
    for (const char c : label) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

/// Samples by metric, so that each comes with its type once.
class Exposition {
public:
    template <class T> void add(std::string_view name, const std::string& labels, const std::optional<T>& value)
    {
        if (value)
            m_metrics[std::string(name)] += fmt::format("deltascope_{}{{{}}} {}\n", name, labels, *value);
    }
    std::string text() const
    {
        std::string out;
        for (const auto& [name, samples] : m_metrics)
            out += fmt::format("# TYPE deltascope_{} {}\n{}", name, name.ends_with("_total") ? "counter" : "gauge",
                               samples);
        return out;
    }

private:
    std::map<std::string, std::string> m_metrics;
};

void addRun(Exposition& out, const RunSummaryView& view)
{
    const KpiView& kpi = view.kpi;
    const std::string run = fmt::format("run=\"{}\"", escaped(view.snapshot->id));
    out.add("up", run, std::optional(view.snapshot->state == "live" ? 1 : 0));
    out.add("latest_step", run, kpi.latest);
    if (kpi.latestAtUs)
        out.add("publish_age_seconds", run,
                std::optional(static_cast<double>(Context::nowUs() - *kpi.latestAtUs) / 1e6));
    out.add("changed_fraction", run, kpi.changedFraction);
    out.add("delta_bytes", run, kpi.deltaBytes);
    out.add("full_bytes", run, kpi.fullBytes);
    if (kpi.pauseMs)
        out.add("last_pause_seconds", run, std::optional(*kpi.pauseMs / 1e3));
    out.add("checked_step", fmt::format("{},result=\"{}\"", run, kpi.verifiedResult), kpi.verifiedTo);
    out.add("alerts_firing", run, std::optional(view.snapshot->alertsFiring));
    if (!view.snapshot->run)
        return;
    out.add("source_bytes", run, std::optional(view.snapshot->run->wireBytes));
    for (const ReplicaView& replica : view.snapshot->run->replicas)
        out.add("replica_lag_versions", fmt::format("{},replica=\"{}\"", run, escaped(replica.id)), replica.behind);
}

/// The place in the file distinguishes two channels of one host.
void addChannels(Exposition& out, const std::vector<AlertChannelView>& channels)
{
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const AlertChannelView& view = channels[i];
        const std::string channel =
            fmt::format("channel=\"{}\",kind=\"{}\",name=\"{}\"", i + 1, view.kind, escaped(view.name));
        out.add("alert_messages_sent_total", channel, std::optional(view.sent));
        out.add("alert_messages_failed_total", channel, std::optional(view.failed));
    }
}

}

std::string metricsOf(Monitor& monitor)
{
    Exposition out;
    for (auto& snapshot : monitor.runs())
        addRun(out, makeRunSummary(std::move(snapshot)));
    std::map<std::string, int> tasks;
    for (const TaskView& task : monitor.tasks())
        ++tasks[task.state];
    for (const auto& [state, count] : tasks)
        out.add("tasks", fmt::format("state=\"{}\"", state), std::optional(count));
    if (const AlertSender* sender = monitor.sender())
        addChannels(out, sender->channels());
    return out.text();
}

} // namespace deltascope::server
