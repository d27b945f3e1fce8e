#include "deltascope/app/view/summary_view.h"

#include "deltascope/app/view/replica_state.h"
#include "deltascope/base/median.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t Window = 50;
constexpr std::size_t SparkSteps = 60;

/// The value below which a share of `values` lies; nothing of nothing.
std::optional<double> quantile(std::vector<double> values, double share)
{
    if (values.empty())
        return std::nullopt;
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

void addPublication(KpiView& kpi, const std::vector<const StepView*>& steps)
{
    std::vector<double> intervals;
    std::vector<double> changed;
    std::vector<double> pauses;
    double pausedUs = 0;
    const std::size_t first = steps.size() > Window ? steps.size() - Window : 0;
    for (std::size_t i = first; i < steps.size(); ++i) {
        const StepView& step = *steps[i];
        if (i > first && step.publishedUs > steps[i - 1]->publishedUs)
            intervals.push_back(static_cast<double>(step.publishedUs - steps[i - 1]->publishedUs) / 1e6);
        if (step.kind == "delta" && step.changedFraction)
            changed.push_back(*step.changedFraction);
        if (step.pauseMs) {
            pauses.push_back(*step.pauseMs);
            pausedUs += *step.pauseMs * 1e3;
            kpi.pauseMs = step.pauseMs;
        }
        if (step.kind == "delta" && step.state != "publishing") {
            kpi.deltaBytes = step.wireBytes;
            kpi.changedFraction = step.changedFraction;
        }
    }
    kpi.intervalSeconds = medianOf(intervals);
    kpi.changedFractionMedian = medianOf(changed);
    kpi.pauseP50Ms = medianOf(pauses);
    kpi.pauseP95Ms = quantile(pauses, 0.95);
    const std::int64_t wallUs = steps.empty() ? 0 : steps.back()->publishedUs - steps[first]->publishedUs;
    if (!pauses.empty() && wallUs > 0 && pausedUs <= static_cast<double>(wallUs)) // else they are times of a copy
        kpi.pausedFraction = pausedUs / static_cast<double>(wallUs);
}

void addSizes(KpiView& kpi, const RunView& run)
{
    kpi.fullBytes = fullStepBytes(run);
    if (kpi.fullBytes && kpi.deltaBytes.value_or(0) > 0)
        kpi.ratio = static_cast<double>(*kpi.fullBytes) / static_cast<double>(*kpi.deltaBytes);
}

void addLatest(KpiView& kpi, const RunView& run, const std::vector<const StepView*>& steps)
{
    if (steps.empty())
        return;
    kpi.newest = steps.back()->step;
    const auto latest = std::find_if(steps.rbegin(), steps.rend(), [&](const StepView* step) {
        return step->restorable && step->step == run.latest;
    });
    if (latest == steps.rend())
        return;
    kpi.latest = (*latest)->step;
    kpi.latestEpoch = (*latest)->epoch;
    kpi.latestAtUs = (*latest)->publishedUs;
    kpi.chainDeltas = (*latest)->restore.deltas;
    const auto anchor = std::find_if(latest, steps.rend(), [](const StepView* step) { return step->kind == "anchor"; });
    if (anchor != steps.rend())
        kpi.chainAnchor = (*anchor)->step;
}

void addReplicas(KpiView& kpi, const std::vector<ReplicaView>& replicas)
{
    for (const ReplicaView& replica : replicas) {
        if (hasStopped(replica))
            continue;
        ++kpi.replicas;
        if (!replica.behind)
            continue;
        kpi.replicasInSync += *replica.behind == 0 && !replica.late && !isPoisoned(replica) && !refusesStep(replica);
        if (!kpi.worstLag || *replica.behind > *kpi.worstLag) {
            kpi.worstLag = replica.behind;
            kpi.worstReplica = replica.id;
        }
    }
}

/// A chain counts up to its first step that was not found sound; the next anchor begins a new one.
void addVerified(KpiView& kpi, const std::vector<const StepView*>& steps, const VerifiedSteps& verified)
{
    bool sound = true;
    std::size_t weakest = 0;
    std::optional<int> level;
    for (const StepView* step : steps) {
        if (step->kind == "anchor") {
            sound = true;
            weakest = 0;
            level.reset();
        }
        const std::optional<VerifiedView> known = verifiedOf(verified, *step);
        const std::optional<std::size_t> soundness = known ? soundnessOf(*known) : std::nullopt;
        sound = sound && soundness;
        if (!sound)
            continue;
        weakest = std::max(weakest, *soundness);
        level = std::min(level.value_or(known->level), known->level);
        kpi.verifiedTo = step->step;
        kpi.verifiedLevel = level;
        kpi.verifiedResult = SoundResults[weakest];
    }
}

std::uint64_t attentionOf(const RunSnapshot& snapshot, const RunSummaryView& view)
{
    const KpiView& kpi = view.kpi;
    std::uint64_t attention = snapshot.state == "error" ? 1000 : 0;
    attention += snapshot.worstAlert == "error" ? 500 : snapshot.worstAlert == "warn" ? 100 : 0;
    attention += 10 * snapshot.alertsFiring;
    if (kpi.newest && kpi.newest != kpi.latest)
        attention += 300;
    attention += view.health.state == "broken" ? 150 : view.health.state == "doubtful" ? 50 : 0;
    return attention + static_cast<std::uint64_t>(kpi.worstLag.value_or(0) >= 3 ? 50 : 0);
}

/// When a replica began to serve a step, by its own spans.
std::vector<std::pair<std::int64_t, std::int64_t>> appliedBy(const RunView& run, const std::string& replica)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> applied; // time, step
    for (const SpanView& span : run.spans) {
        if (span.actor == replica && span.phase == "pause")
            applied.emplace_back(span.t1Us, span.step);
    }
    std::sort(applied.begin(), applied.end());
    return applied;
}

void addLag(ReplicaHistoryView& view, const RunView& run, const std::vector<const StepView*>& steps, std::int64_t nowUs,
            std::size_t versions)
{
    const auto applied = appliedBy(run, view.replica.id);
    if (view.replica.step && view.replica.behind.value_or(0) > 0) {
        const auto missed = std::find_if(steps.begin(), steps.end(), [&](const StepView* step) {
            return step->step > *view.replica.step && step->state != "publishing";
        });
        if (missed != steps.end())
            view.lagSeconds = static_cast<double>(nowUs - (*missed)->publishedUs) / 1e6;
    }
    // Spans come in bundles, later than heartbeats: the heartbeat alone tells what lies behind the last one.
    const std::size_t first = steps.size() > versions ? steps.size() - versions : 0;
    for (std::size_t i = first; i < steps.size(); ++i) {
        const std::pair now(steps[i]->publishedUs, std::numeric_limits<std::int64_t>::max());
        const auto later = std::upper_bound(applied.begin(), applied.end(), now);
        if (later == applied.begin() || later == applied.end())
            continue;
        const auto end = steps.begin() + static_cast<std::ptrdiff_t>(i);
        const auto missed =
            std::upper_bound(steps.begin(), end, std::prev(later)->second,
                             [](std::int64_t served, const StepView* step) { return served < step->step; });
        view.lagHistory.push_back(static_cast<std::uint64_t>(end - missed));
        view.lagSteps.push_back(steps[i]->step);
    }
    if (view.replica.behind && !steps.empty()) {
        view.lagHistory.push_back(static_cast<std::uint64_t>(*view.replica.behind));
        view.lagSteps.push_back(steps.back()->step);
    }
}

void addPauses(ReplicaHistoryView& view, const RunView& run, std::int64_t nowUs)
{
    constexpr std::int64_t HourUs = 3'600'000'000;
    std::int64_t firstUs = nowUs;
    std::int64_t pausedUs = 0;
    std::int64_t lastUs = 0;
    for (const SpanView& span : run.spans) {
        if (span.actor != view.replica.id)
            continue;
        firstUs = std::min(firstUs, span.t0Us);
        if (span.phase != "pause")
            continue;
        const std::int64_t beginUs = std::max(span.t0Us, nowUs - HourUs);
        pausedUs += std::max<std::int64_t>(0, span.t1Us - beginUs);
        if (span.t1Us > lastUs) {
            lastUs = span.t1Us;
            view.lastPauseMs = static_cast<double>(span.t1Us - span.t0Us) / 1e3;
        }
    }
    const std::int64_t wallUs = nowUs - std::max(firstUs, nowUs - HourUs);
    if (lastUs > 0 && wallUs > 0)
        view.pausedFraction = std::min(1.0, static_cast<double>(pausedUs) / static_cast<double>(wallUs));
}

std::string publishedText(const StepView& step)
{
    std::string text = fmt::format("step {} published, {}", step.step, step.kind == "anchor" ? "anchor" : "delta");
    if (step.changedFraction && step.kind == "delta")
        text += fmt::format(", {:.2g} % changed", *step.changedFraction * 100);
    return text;
}

}

RunSummaryView makeRunSummary(std::shared_ptr<const RunSnapshot> snapshot)
{
    RunSummaryView view;
    view.snapshot = std::move(snapshot);
    if (view.snapshot->run) {
        const RunView& run = *view.snapshot->run;
        const std::vector<const StepView*> newest = newestSteps(run);
        addLatest(view.kpi, run, newest);
        addPublication(view.kpi, newest);
        addSizes(view.kpi, run);
        addReplicas(view.kpi, run.replicas);
        addVerified(view.kpi, newest, view.snapshot->verified);
        view.health = makeHealth(run, view.snapshot->verified, view.snapshot->oldVerdicts);
        if (view.snapshot->error)
            view.health = withoutContact(std::move(view.health), *view.snapshot->error, view.snapshot->contactUs);
        for (const EpochView& epoch : run.epochs) {
            for (const StepView& step : epoch.steps) {
                view.gaps += step.state == "gap";
                view.steps += step.state != "gap";
                view.anchors += step.kind == "anchor";
                view.deltas += step.kind == "delta";
            }
        }
        for (std::size_t i = newest.size() > SparkSteps ? newest.size() - SparkSteps : 0; i < newest.size(); ++i)
            view.spark.push_back(newest[i]->kind == "delta" ? newest[i]->changedFraction : std::nullopt);
    }
    view.attention = attentionOf(*view.snapshot, view);
    return view;
}

std::vector<ReplicaHistoryView> makeReplicaHistory(const RunView& run, std::int64_t nowUs, std::size_t versions)
{
    const std::vector<const StepView*> steps = newestSteps(run);
    std::vector<ReplicaHistoryView> views;
    for (const ReplicaView& replica : run.replicas) {
        ReplicaHistoryView view;
        view.replica = replica;
        addLag(view, run, steps, nowUs, versions);
        addPauses(view, run, nowUs);
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<FeedItemView> makeFeed(const RunView& run, std::size_t limit)
{
    std::vector<FeedItemView> feed;
    const std::vector<const StepView*> steps = newestSteps(run);
    const auto published = std::min(steps.size(), limit);
    for (auto at = steps.rbegin(); at != steps.rbegin() + static_cast<std::ptrdiff_t>(published); ++at) {
        const StepView& step = **at; // the newest first, also where a copy has given all the same time
        feed.push_back({ step.publishedUs, "published", step.step, publishedText(step) });
        if (const ProblemView* const problem = gravest(step.problems))
            feed.push_back({ step.publishedUs, isNotice(*problem) ? "notice" : "problem", step.step,
                             problem->code + ": " + problem->text });
    }
    for (std::size_t i = run.spans.size() > 20 * limit ? run.spans.size() - 20 * limit : 0; i < run.spans.size(); ++i) {
        const SpanView& span = run.spans[i];
        if (span.phase == "pause")
            feed.push_back({ span.t1Us, "applied", span.step,
                             fmt::format("{} says that it applied {}, paused {:.0f} ms", span.actor, span.step,
                                         static_cast<double>(span.t1Us - span.t0Us) / 1e3) });
    }
    for (const NoteView& note : run.notes) {
        if (note.tUs)
            feed.push_back({ *note.tUs, "note", note.step, note.actor + ": " + note.text });
    }
    std::stable_sort(feed.begin(), feed.end(),
                     [](const FeedItemView& a, const FeedItemView& b) { return a.tUs > b.tUs; });
    if (feed.size() > limit)
        feed.resize(limit);
    return feed;
}

} // namespace deltascope::app
