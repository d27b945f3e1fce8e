#pragma once

#include "beside/trace/trace_json.h"
#include "patch_checks.h"
#include "view/make_views.h"

namespace deltascope {

inline constexpr std::int64_t FuzzNowUs = 1'787'400'000'000'000;

/// What stands beside a run as its readers see it, and what the app shows of it.
inline void checkTrace(const ObjectStore& store)
{
    TaskContext task;
    TraceReader reader;
    const Result<Trace> trace = reader.read(store, task);
    require(trace.has_value());
    for (const Span& span : trace->spans) {
        require(!span.actor.empty() && !span.phase.empty() && span.step >= -1 && span.epoch >= 0);
        require(span.t0Us >= 0 && span.lengthUs() >= 0 && span.lengthUs() <= span.t1Us);
    }
    for (const Heartbeat& replica : trace->replicas) {
        require(!replica.id.empty() && replica.step >= -1 && replica.epoch >= 0 && replica.tUs >= 0);
        require(replica.periodSeconds > 0);
    }
    const Result<Trace> again = reader.read(store, task); // spans are read once, replicas each time
    require(again && again->spans.size() == trace->spans.size() && again->replicas.size() == trace->replicas.size());

    app::RunView view;
    for (std::int64_t step = 1; step <= 4; ++step) {
        if (view.epochs.empty())
            view.epochs.emplace_back();
        app::StepView& row = view.epochs[0].steps.emplace_back();
        row.step = step;
        row.publishedUs = FuzzNowUs - 60'000'000 * (5 - step);
    }
    app::addTrace(view, *trace, trace->spans, FuzzNowUs);
    require(view.replicas.size() == trace->replicas.size());
    for (const app::ReplicaView& replica : view.replicas)
        require(!replica.behind || (*replica.behind >= 0 && *replica.behind <= 4)); // none of a step that the run lacks
    for (const app::SpanView& span : view.spans)
        require(span.t0Us > 0 && span.t0Us <= span.t1Us && span.step >= 0);
}

} // namespace deltascope
