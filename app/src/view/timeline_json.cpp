#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "trace_description.h"

#include <algorithm>
#include <map>
#include <vector>

namespace deltascope::app {

namespace {

double ms(double us) { return us / 1e3; }

std::optional<double> ms(const std::optional<std::int64_t>& us)
{
    return us ? std::optional(ms(static_cast<double>(*us))) : std::nullopt;
}

ordered_json json(const BarView& bar, int epoch)
{
    ordered_json phases = ordered_json::array();
    for (const PhaseTimeView& time : bar.phases)
        phases.push_back({ { "phase", time.phase }, { "ms", ms(static_cast<double>(time.us)) } });
    ordered_json work = ordered_json::array();
    for (const PhaseWorkView& part : bar.work)
        work.push_back(
            { { "phase", part.phase }, { "ms", ms(static_cast<double>(part.us)) }, { "bytes", part.bytes } });
    return { { "epoch", epoch },
             { "step", bar.step },
             { "actor", bar.actor },
             { "t0_us", bar.t0Us },
             { "t1_us", bar.t1Us },
             { "total_ms", ms(static_cast<double>(bar.t1Us - bar.t0Us)) },
             { "pause_ms", orNull(ms(bar.pauseUs)) },
             { "phases", std::move(phases) },
             { "work", std::move(work) },
             { "slowest", bar.slowest } };
}

ordered_json json(const PauseSummaryView& summary)
{
    ordered_json worst;
    if (summary.worst)
        worst = { { "step", summary.worst->step },
                  { "actor", summary.worst->actor },
                  { "ms", ms(static_cast<double>(summary.worst->us)) } };
    return { { "paused_ms", ms(static_cast<double>(summary.pausedUs)) },
             { "wall_ms", ms(summary.wallUs) },
             { "pauses", summary.pauses },
             { "p50_ms", orNull(ms(summary.p50Us)) },
             { "p95_ms", orNull(ms(summary.p95Us)) },
             { "worst", std::move(worst) } };
}

/// The rows of one actor in a trace viewer: within a row, slices are apart or inside each other.
class Rows {
public:
    /// The number of the first row that has room; `span` begins no earlier than those before it.
    std::size_t rowFor(const SpanView& span)
    {
        for (std::size_t row = 0; row < m_open.size(); ++row) {
            std::vector<std::int64_t>& ends = m_open[row];
            while (!ends.empty() && ends.back() <= span.t0Us)
                ends.pop_back();
            if (ends.empty() || span.t1Us <= ends.back()) {
                ends.push_back(span.t1Us);
                return row;
            }
        }
        m_open.push_back({ span.t1Us });
        return m_open.size() - 1;
    }

private:
    std::vector<std::vector<std::int64_t>> m_open; ///< ends of the slices around the next one, by row
};

ordered_json processName(std::size_t process, const std::string& name)
{
    return {
        { "name", "process_name" }, { "ph", "M" }, { "pid", process }, { "tid", 0 }, { "args", { { "name", name } } }
    };
}

}

std::string toJson(const TimelineView& view)
{
    ordered_json bars = ordered_json::array();
    for (const BarView& bar : view.bars)
        bars.push_back(json(bar, view.epoch));
    ordered_json visible = ordered_json::array();
    for (const PublicationView& publication : view.visible)
        visible.push_back({ { "step", publication.step }, { "t_us", publication.tUs } });
    ordered_json ghost;
    if (view.ghost)
        ghost = { { "full_bytes", view.ghost->fullBytes },
                  { "bytes_per_s", view.ghost->bytesPerSecond },
                  { "ms", view.ghost->ms() } };
    return dump({ { "rev", view.revision },
                  { "epoch", view.epoch },
                  { "actors", view.actors },
                  { "bars", std::move(bars) },
                  { "spans", written(view.spans) },
                  { "visible", std::move(visible) },
                  { "summary", json(view.summary) },
                  { "ghost", std::move(ghost) } });
}

std::string chromeTrace(const TimelineView& view)
{
    constexpr std::size_t Bucket = 1; // the process that publications are marks of
    ordered_json events = ordered_json::array();
    events.push_back(processName(Bucket, "bucket"));
    std::map<std::string, std::size_t> processes;
    for (const std::string& actor : view.actors) {
        processes.emplace(actor, processes.size() + Bucket + 1);
        events.push_back(processName(processes.at(actor), actor));
    }
    std::vector<SpanView> spans = view.spans;
    std::stable_sort(spans.begin(), spans.end(), [](const SpanView& a, const SpanView& b) { // the outer one first
        return a.t0Us < b.t0Us || (a.t0Us == b.t0Us && a.t1Us > b.t1Us);
    });
    std::map<std::string, Rows> rows;
    for (const SpanView& span : spans)
        events.push_back({ { "name", span.phase },
                           { "cat", "sync" },
                           { "ph", "X" },
                           { "ts", span.t0Us },
                           { "dur", span.t1Us - span.t0Us },
                           { "pid", processes.at(span.actor) },
                           { "tid", rows[span.actor].rowFor(span) + 1 },
                           { "args", { { "epoch", span.epoch }, { "step", span.step }, { "bytes", span.bytes } } } });
    for (const PublicationView& publication : view.visible)
        events.push_back({ { "name", "visible" },
                           { "cat", "sync" },
                           { "ph", "i" },
                           { "s", "p" },
                           { "ts", publication.tUs },
                           { "pid", Bucket },
                           { "tid", 1 },
                           { "args", { { "epoch", view.epoch }, { "step", publication.step } } } });
    return dump({ { "traceEvents", std::move(events) }, { "displayTimeUnit", "ms" } });
}

} // namespace deltascope::app
