#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "run_description.h"

namespace deltascope::app {

namespace {

ordered_json orNull(const std::string& text) { return text.empty() ? ordered_json(nullptr) : ordered_json(text); }
using deltascope::app::orNull;

ordered_json json(const KpiView& kpi)
{
    return { { "latest", orNull(kpi.latest) },
             { "latest_epoch", orNull(kpi.latestEpoch) },
             { "newest", orNull(kpi.newest) },
             { "latest_at_us", orNull(kpi.latestAtUs) },
             { "interval_s", orNull(kpi.intervalSeconds) },
             { "chain_anchor", orNull(kpi.chainAnchor) },
             { "chain_deltas", orNull(kpi.chainDeltas) },
             { "changed_frac", orNull(kpi.changedFraction) },
             { "changed_frac_median", orNull(kpi.changedFractionMedian) },
             { "delta_bytes", orNull(kpi.deltaBytes) },
             { "full_bytes", orNull(kpi.fullBytes) },
             { "ratio", orNull(kpi.ratio) },
             { "pause_ms", orNull(kpi.pauseMs) },
             { "pause_p50_ms", orNull(kpi.pauseP50Ms) },
             { "pause_p95_ms", orNull(kpi.pauseP95Ms) },
             { "paused_frac", orNull(kpi.pausedFraction) },
             { "replicas", kpi.replicas },
             { "replicas_in_sync", kpi.replicasInSync },
             { "worst_replica", orNull(kpi.worstReplica) },
             { "worst_lag", orNull(kpi.worstLag) },
             { "verified_to", orNull(kpi.verifiedTo) },
             { "verified_level", orNull(kpi.verifiedLevel) },
             { "verified_result", orNull(kpi.verifiedResult) } };
}

ordered_json json(const HealthView& health)
{
    return { { "state", orNull(health.state) },     { "headline", health.headline },
             { "proven", health.proven },           { "restorable", health.restorable },
             { "remedy", health.remedy },           { "step", orNull(health.step) },
             { "restore", orNull(health.restore) }, { "problem", written(health.problem) } };
}

ordered_json json(const RunSummaryView& view)
{
    const RunSnapshot& snapshot = *view.snapshot;
    ordered_json spark = ordered_json::array();
    for (const std::optional<double>& value : view.spark)
        spark.push_back(orNull(value));
    return { { "id", snapshot.id },
             { "source", snapshot.source },
             { "layout", snapshot.run ? snapshot.run->layout : std::string() },
             { "name", snapshot.name },
             { "base", orNull(snapshot.base) },
             { "rev", snapshot.revision },
             { "state", snapshot.state },
             { "opening", orNull(snapshot.opening) },
             { "error", written(snapshot.error) },
             { "contact_us", snapshot.contactUs },
             { "steps", view.steps },
             { "anchors", view.anchors },
             { "deltas", view.deltas },
             { "epochs", snapshot.run ? snapshot.run->epochs.size() : 0 },
             { "gaps", view.gaps },
             { "wire_bytes", snapshot.run ? snapshot.run->wireBytes : 0 },
             { "kpi", json(view.kpi) },
             { "health", json(view.health) },
             { "alerts_firing", snapshot.alertsFiring },
             { "worst_alert", orNull(snapshot.worstAlert) },
             { "attention", view.attention },
             { "spark", std::move(spark) },
             { "demo", snapshot.demo } };
}

}

std::string toJson(const RunSummaryView& view) { return dump(json(view)); }

std::string toJson(const std::vector<RunSummaryView>& views, std::uint64_t revision)
{
    ordered_json runs = ordered_json::array();
    for (const RunSummaryView& view : views)
        runs.push_back(json(view));
    return dump({ { "rev", revision }, { "runs", std::move(runs) } });
}

std::string detailToJson(const RunSummaryView& view, std::int64_t nowUs)
{
    constexpr std::size_t FeedItems = 100;
    ordered_json out = json(view);
    const RunView none;
    const RunView& run = view.snapshot->run ? *view.snapshot->run : none;
    const std::vector<const StepView*> steps = newestSteps(run);
    out["first_step"] = steps.empty() ? ordered_json(nullptr) : ordered_json(steps.front()->step);
    out["last_step"] = steps.empty() ? ordered_json(nullptr) : ordered_json(steps.back()->step);
    out["ignored_objects"] = run.ignoredObjects;
    out["store_meter"] = written(run.meter);
    out["listed_us"] = written(nullIfEmpty(run.listedUs));
    out["noop_rate"] = orNull(run.noopRate);
    out["problems"] = written(run.problems);
    out["events"] = written(run.events);
    out["drift"] = written(run.drift);
    out["notes"] = written(run.notes);
    out["refs"] = written(run.refs);
    out["replicas"] = written(makeReplicaHistory(run, nowUs));
    out["feed"] = written(makeFeed(run, FeedItems));
    return dump(out);
}

std::string toJson(const ReplicaHistoryView& view) { return dump(written(view)); }
std::string toJson(const FeedItemView& view) { return dump(written(view)); }

} // namespace deltascope::app
