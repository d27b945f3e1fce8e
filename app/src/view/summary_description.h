#pragma once

#include "deltascope/app/view/summary_view.h"

#include "alert_description.h"
#include "run_description.h"

namespace deltascope::app {

// What describes it is written alone: clients follow a run by its snapshot, and make these of it.

inline constexpr WordSet HealthStates { "", { "broken", "doubtful", "no_contact", "unchecked", "sound" } };
inline constexpr WordSet SoundVerifyResults { "", { "verified", "consistent", "first_sight" } };
inline constexpr WordSet RunStates { "", { "opening", "live", "error" } };

template <class Io> void describe(Io& io, const KpiView& kpi)
{
    io.type("Kpi", "Tiles of the page Live. Medians are over the last 50 deltas.");
    io("latest", kpi.latest, "newest restorable step");
    io("latest_epoch", kpi.latestEpoch);
    io("newest", kpi.newest, "newest step, sound or not");
    io("latest_at_us", kpi.latestAtUs);
    io("interval_s", kpi.intervalSeconds, "median between publications");
    io("chain_anchor", kpi.chainAnchor, "anchor that the latest step is rebuilt from");
    io("chain_deltas", kpi.chainDeltas);
    io("changed_frac", kpi.changedFraction, "of the latest delta");
    io("changed_frac_median", kpi.changedFractionMedian);
    io("delta_bytes", kpi.deltaBytes, "of the latest delta");
    io("full_bytes", kpi.fullBytes, "of the newest whole anchor, else of the external base");
    io("ratio", kpi.ratio, "full / delta");
    io("pause_ms", kpi.pauseMs, "of the latest step that has one");
    io("pause_p50_ms", kpi.pauseP50Ms);
    io("pause_p95_ms", kpi.pauseP95Ms);
    io("paused_frac", kpi.pausedFraction, "of wall time over the last 50 steps");
    io("replicas", kpi.replicas);
    io("replicas_in_sync", kpi.replicasInSync);
    io("worst_replica", kpi.worstReplica);
    io("worst_lag", kpi.worstLag);
    io("verified_to", kpi.verifiedTo, "newest step whose whole chain was checked and found sound");
    io("verified_level", kpi.verifiedLevel, "the lowest of these");
    io("verified_result", nullIfEmpty(kpi.verifiedResult, SoundVerifyResults), "the weakest of these");
}

template <class Io> void describe(Io& io, const HealthView& health)
{
    io.type("Health", "What can be relied on in the newest epoch, in words that are shown as they are.");
    io("state", nullIfEmpty(health.state, HealthStates),
       "broken: steps cannot be used; doubtful: they can, and may be wrong, or something that was here is gone; "
       "no_contact: the source cannot be looked at; null: nothing is published");
    io("headline", health.headline, "the damage, else the doubt, else what is proven");
    io("proven", health.proven);
    io("restorable", health.restorable);
    io("remedy", health.remedy, "empty: nothing is to be done");
    io("step", health.step, "that the damage or the doubt starts at");
    io("restore", health.restore, "the newest that can be restored");
    io("problem", health.problem);
}

template <class Io> void describe(Io& io, const RunSummaryView& summary)
{
    static const RunSnapshot none;
    static const RunView unopened;
    const RunSnapshot& snapshot = summary.snapshot ? *summary.snapshot : none;
    const RunView& run = snapshot.run ? *snapshot.run : unopened;
    io.type("RunSummary", "A run that is followed.");
    io("id", snapshot.id, "stands in URLs");
    io("source", snapshot.source, "URI");
    io("layout", run.layout);
    io("name", snapshot.name);
    io("base", nullIfEmpty(snapshot.base));
    io("rev", snapshot.revision);
    io("state", word(snapshot.state, RunStates));
    io("opening", nullIfEmpty(snapshot.opening), "what is read before the run can be shown for the first time");
    io("error", snapshot.error);
    io("contact_us", snapshot.contactUs, "when the source was last looked at with success");
    io("steps", summary.steps);
    io("anchors", summary.anchors);
    io("deltas", summary.deltas);
    io("epochs", run.epochs.size());
    io("gaps", summary.gaps);
    io("wire_bytes", run.wireBytes);
    io("kpi", summary.kpi);
    io("health", summary.health);
    io("alerts_firing", snapshot.alertsFiring);
    io("worst_alert", nullIfEmpty(snapshot.worstAlert, AlertLevels));
    io("attention", summary.attention, "0: all is well; the higher, the earlier it is shown");
    io("spark", summary.spark, "changed_frac of the last 60 steps");
    io("demo", snapshot.demo);
}

struct RunListView {
    std::uint64_t revision;
    const std::vector<RunSummaryView>& runs;
};

template <class Io> void describe(Io& io, const RunListView& list)
{
    io.type("RunList", "All runs that are followed.");
    io("rev", list.revision);
    io("runs", list.runs);
}

/// The page Live: the summary, and what happened.
struct RunDetailView {
    const RunSummaryView& summary;
    std::int64_t nowUs;
};

template <class Io> void describe(Io& io, const RunDetailView& detail)
{
    constexpr std::size_t FeedItems = 100;
    static const RunView unopened;
    const auto& snapshot = detail.summary.snapshot;
    const RunView& run = snapshot && snapshot->run ? *snapshot->run : unopened;
    const std::vector<const StepView*> steps = newestSteps(run);
    const auto stepOf = [&](std::size_t at) { return steps.empty() ? std::nullopt : std::optional(steps[at]->step); };
    io.type("RunDetail", "A run that is followed, with what happened.");
    describe(io, detail.summary);
    io("first_step", stepOf(0), "of the newest epoch");
    io("last_step", stepOf(steps.size() - 1));
    io("ignored_objects", run.ignoredObjects);
    io("store_meter", run.meter, "of an object store");
    io("listed_us", nullIfEmpty(run.listedUs), "when everything was last listed; null: at every look");
    io("noop_rate", run.noopRate);
    io("problems", run.problems);
    io("events", run.events, "what happened to the source since it was first seen, oldest first");
    io("drift", run.drift);
    io("notes", run.notes);
    io("refs", run.refs);
    io("replicas", makeReplicaHistory(run, detail.nowUs));
    io("feed", makeFeed(run, FeedItems), "newest first, at most 100");
}

} // namespace deltascope::app
