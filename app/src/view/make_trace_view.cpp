#include "make_views.h"

#include <algorithm>

namespace deltascope::app {

namespace {

constexpr std::int64_t LaggingVersions = 3;
constexpr double LatePeriods = 3;

/// Versions of the newest epoch behind `step`.
std::int64_t versionsBehind(const RunView& run, std::int64_t step)
{
    if (run.epochs.empty())
        return 0;
    const std::vector<StepView>& steps = run.epochs.back().steps;
    return std::count_if(steps.begin(), steps.end(), [step](const StepView& view) {
        return view.step > step && view.state != "gap" && view.state != "publishing";
    });
}

}

void addTrace(RunView& view, const Trace& trace, std::int64_t nowUs)
{
    for (const Heartbeat& heartbeat : trace.replicas) {
        ReplicaView replica;
        replica.id = heartbeat.id;
        replica.engine = heartbeat.engine;
        replica.state = heartbeat.state;
        replica.detail = heartbeat.detail;
        if (heartbeat.step >= 0)
            replica.step = heartbeat.step;
        replica.behind = versionsBehind(view, heartbeat.step);
        replica.ageSeconds = static_cast<double>(nowUs - heartbeat.tUs) / 1e6;
        replica.late = replica.ageSeconds > LatePeriods * heartbeat.periodSeconds;
        replica.lagging = *replica.behind >= LaggingVersions;
        view.replicas.push_back(std::move(replica));
    }
    for (const Span& span : trace.spans) {
        if (span.phase == "note")
            view.notes.push_back(NoteView { span.actor, span.step >= 0 ? std::optional(span.step) : std::nullopt,
                                            span.t1Us, span.note });
    }
}

} // namespace deltascope::app
