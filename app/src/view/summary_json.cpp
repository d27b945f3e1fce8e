#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"

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
    return { { "state", orNull(health.state) },
             { "headline", health.headline },
             { "proven", health.proven },
             { "restorable", health.restorable },
             { "remedy", health.remedy },
             { "step", orNull(health.step) },
             { "restore", orNull(health.restore) },
             { "problem", health.problem ? json(*health.problem) : ordered_json(nullptr) } };
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
             { "error", snapshot.error ? json(*snapshot.error) : ordered_json(nullptr) },
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

ordered_json json(const ReplicaHistoryView& view)
{
    const ReplicaView& replica = view.replica;
    return { { "id", replica.id },
             { "engine", replica.engine },
             { "state", replica.state },
             { "step", orNull(replica.step) },
             { "behind", orNull(replica.behind) },
             { "lag_s", orNull(view.lagSeconds) },
             { "age_s", replica.ageSeconds },
             { "late", replica.late },
             { "lagging", replica.lagging },
             { "foreign", replica.foreign },
             { "doubt", replica.doubt.empty() ? ordered_json(nullptr) : ordered_json(replica.doubt) },
             { "detail", replica.detail },
             { "last_pause_ms", orNull(view.lastPauseMs) },
             { "paused_frac", orNull(view.pausedFraction) },
             { "lag_history", view.lagHistory } };
}

ordered_json json(const FeedItemView& view)
{
    return { { "t_us", view.tUs }, { "kind", view.kind }, { "step", orNull(view.step) }, { "text", view.text } };
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
    out["store_meter"] = json(run.meter);
    out["listed_us"] = listedOrNull(run.listedUs);
    out["noop_rate"] = orNull(run.noopRate);
    out["problems"] = json(run.problems);
    out["events"] = json(run.events);
    ordered_json drift = ordered_json::array();
    for (const DriftView& point : run.drift)
        drift.push_back(json(point));
    out["drift"] = std::move(drift);
    ordered_json notes = ordered_json::array();
    for (const NoteView& note : run.notes)
        notes.push_back(json(note));
    out["notes"] = std::move(notes);
    ordered_json refs = ordered_json::array();
    for (const RefView& ref : run.refs)
        refs.push_back(json(ref));
    out["refs"] = std::move(refs);
    ordered_json replicas = ordered_json::array();
    for (const ReplicaHistoryView& replica : makeReplicaHistory(run, nowUs))
        replicas.push_back(json(replica));
    out["replicas"] = std::move(replicas);
    ordered_json feed = ordered_json::array();
    for (const FeedItemView& item : makeFeed(run, FeedItems))
        feed.push_back(json(item));
    out["feed"] = std::move(feed);
    return dump(out);
}

std::string toJson(const ReplicaHistoryView& view) { return dump(json(view)); }
std::string toJson(const FeedItemView& view) { return dump(json(view)); }

} // namespace deltascope::app
