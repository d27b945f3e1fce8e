#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "timeline_description.h"

#include <algorithm>
#include <map>
#include <vector>

namespace deltascope::app {

namespace {

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

std::string toJson(const TimelineView& view) { return dump(written(view)); }

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
