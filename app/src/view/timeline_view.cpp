#include "deltascope/app/view/timeline_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace deltascope::app {

namespace {

constexpr std::ptrdiff_t MostTimelineSpans = 5'000;
constexpr std::string_view Sync = "sync"; // the whole of a sync, not a phase of it

/// Where several phases are active at once, the first one counts; phases that are not listed come after these.
constexpr std::array<std::string_view, 12> PhasesByRank = { "pause.apply", "pause",  "apply",  "resume",
                                                            "flush",       "drain",  "verify", "stage",
                                                            "fetch",       "upload", "encode", "diff" };
/// What only a replica does.
constexpr std::array<std::string_view, 7> ReplicaPhases = { "pause", "apply", "resume", "flush",
                                                            "drain", "stage", "fetch" };

/// A phase, ordered by rank.
struct Phase {
    std::size_t rank = 0;
    std::string name;

    auto operator<=>(const Phase&) const = default;
};

Phase phaseOf(const std::string& name)
{
    const auto* const at = std::find(PhasesByRank.begin(), PhasesByRank.end(), name);
    return { static_cast<std::size_t>(at - PhasesByRank.begin()), name };
}

const Phase PauseApply = phaseOf("pause.apply");
const Phase Pause = phaseOf("pause");
const Phase Apply = phaseOf("apply");
const Phase Waiting { PhasesByRank.size() + 1, "waiting" };

using Spans = std::vector<const SpanView*>;

/// The phase that an instant belongs to; `active`: all phases then, with the number of their spans.
const Phase& dominant(const std::map<Phase, int>& active)
{
    if (active.empty())
        return Waiting;
    return active.contains(Pause) && active.contains(Apply) ? PauseApply : active.begin()->first;
}

/// Cuts the time of some spans into pieces of one phase each and sums them up.
std::vector<PhaseTimeView> wallTimes(const Spans& spans)
{
    std::map<std::int64_t, std::vector<std::pair<Phase, int>>> edges;
    for (const SpanView* span : spans) {
        edges[span->t0Us].emplace_back(phaseOf(span->phase), 1);
        edges[span->t1Us].emplace_back(phaseOf(span->phase), -1);
    }
    std::map<Phase, int> active;
    std::map<Phase, std::int64_t> sums;
    for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
        for (const auto& [phase, change] : edge->second) {
            if ((active[phase] += change) == 0)
                active.erase(phase);
        }
        if (const auto next = std::next(edge); next != edges.end())
            sums[dominant(active)] += next->first - edge->first;
    }
    std::vector<PhaseTimeView> times;
    for (const auto& [phase, us] : sums)
        times.push_back({ phase.name, us });
    return times;
}

std::vector<PhaseWorkView> workOf(const Spans& spans)
{
    std::map<Phase, PhaseWorkView> sums;
    for (const SpanView* span : spans) {
        PhaseWorkView& work = sums[phaseOf(span->phase)];
        work.phase = span->phase;
        work.us += span->t1Us - span->t0Us;
        work.bytes += span->bytes;
    }
    std::vector<PhaseWorkView> all;
    for (auto& [phase, work] : sums)
        all.push_back(std::move(work));
    return all;
}

/// Takes the whole out from between its parts.
void dropWhole(Spans& spans)
{
    const auto isPart = [](const SpanView* span) { return span->phase != Sync; };
    if (std::any_of(spans.begin(), spans.end(), isPart))
        spans.erase(std::stable_partition(spans.begin(), spans.end(), isPart), spans.end());
}

BarView barOf(std::int64_t step, std::string actor, Spans spans)
{
    dropWhole(spans);
    BarView bar;
    bar.step = step;
    bar.actor = std::move(actor);
    bar.t0Us = spans.front()->t0Us;
    for (const SpanView* span : spans) {
        bar.t0Us = std::min(bar.t0Us, span->t0Us);
        bar.t1Us = std::max(bar.t1Us, span->t1Us);
        if (span->phase == Pause.name)
            bar.pauseUs = 0;
    }
    bar.phases = wallTimes(spans);
    bar.work = workOf(spans);
    for (const PhaseTimeView& time : bar.phases) {
        if (time.phase == Pause.name || time.phase == PauseApply.name)
            bar.pauseUs = bar.pauseUs.value_or(0) + time.us;
    }
    return bar;
}

bool isReplica(const Spans& spans)
{
    return std::any_of(spans.begin(), spans.end(), [](const SpanView* span) {
        return std::find(ReplicaPhases.begin(), ReplicaPhases.end(), span->phase) != ReplicaPhases.end();
    });
}

/// The bars of one step: one per replica, in each what the publishers did; or one of the publishers alone.
std::vector<BarView> barsOf(std::int64_t step, const std::map<std::string, Spans>& byActor,
                            std::set<std::string>& replicas)
{
    Spans shared;
    std::vector<const std::string*> own;
    for (const auto& [actor, spans] : byActor) {
        if (isReplica(spans))
            own.push_back(&actor);
        else
            shared.insert(shared.end(), spans.begin(), spans.end());
    }
    std::vector<BarView> bars;
    for (const std::string* actor : own) {
        replicas.insert(*actor);
        Spans spans = shared;
        spans.insert(spans.end(), byActor.at(*actor).begin(), byActor.at(*actor).end());
        bars.push_back(barOf(step, *actor, std::move(spans)));
    }
    if (bars.empty())
        bars.push_back(barOf(step, {}, std::move(shared)));
    std::max_element(bars.begin(), bars.end(), [](const BarView& a, const BarView& b) {
        return a.t1Us - a.t0Us < b.t1Us - b.t0Us;
    })->slowest = true;
    return bars;
}

/// The smallest value that at least this share of all values does not exceed.
std::int64_t quantile(const std::vector<std::int64_t>& ascending, double share)
{
    const double rank = std::ceil(share * static_cast<double>(ascending.size()));
    return ascending[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

PauseSummaryView summaryOf(const std::vector<BarView>& bars)
{
    PauseSummaryView summary;
    std::vector<std::int64_t> pauses;
    std::set<std::string_view> replicas;
    for (const BarView& bar : bars) {
        if (!bar.pauseUs)
            continue;
        pauses.push_back(*bar.pauseUs);
        replicas.insert(bar.actor);
        summary.pausedUs += *bar.pauseUs;
        if (!summary.worst || *bar.pauseUs > summary.worst->us)
            summary.worst = WorstPauseView { bar.step, bar.actor, *bar.pauseUs };
    }
    if (pauses.empty())
        return summary;
    std::sort(pauses.begin(), pauses.end());
    summary.pauses = pauses.size();
    summary.p50Us = quantile(pauses, 0.5);
    summary.p95Us = quantile(pauses, 0.95);
    const auto begin = std::min_element(bars.begin(), bars.end(), [](auto& a, auto& b) { return a.t0Us < b.t0Us; });
    const auto end = std::max_element(bars.begin(), bars.end(), [](auto& a, auto& b) { return a.t1Us < b.t1Us; });
    summary.wallUs = static_cast<double>(end->t1Us - begin->t0Us) * static_cast<double>(replicas.size());
    return summary;
}

std::optional<GhostView> ghostOf(const std::vector<StepView>& steps, const std::vector<SpanView>& spans)
{
    const auto anchor = std::find_if(steps.rbegin(), steps.rend(), [](const StepView& step) {
        return step.kind == "anchor" && step.state == "complete";
    });
    std::uint64_t bytes = 0;
    std::int64_t us = 0;
    for (const SpanView& span : spans) {
        if (span.phase == "upload" && span.bytes > 0) {
            bytes += span.bytes;
            us += span.t1Us - span.t0Us;
        }
    }
    if (anchor == steps.rend() || us == 0)
        return std::nullopt;
    return GhostView { anchor->wireBytes, static_cast<double>(bytes) * 1e6 / static_cast<double>(us) };
}

}

TimelineView makeTimelineView(const RunView& run, int epoch, std::int64_t from, std::int64_t to)
{
    TimelineView view;
    view.revision = run.revision;
    view.epoch = epoch;
    std::map<std::int64_t, std::map<std::string, Spans>> byStep;
    for (const SpanView& span : run.spans) {
        if (span.epoch != epoch || span.step < from || span.step > to)
            continue;
        byStep[span.step][span.actor].push_back(&span);
    }
    std::set<std::string> replicas;
    std::set<std::string> publishers;
    for (auto& [step, byActor] : byStep) {
        for (auto& [actor, spans] : byActor) {
            dropWhole(spans);
            publishers.insert(actor);
            for (const SpanView* span : spans)
                view.spans.push_back(*span);
        }
        for (BarView& bar : barsOf(step, byActor, replicas))
            view.bars.push_back(std::move(bar));
    }
    std::stable_sort(view.spans.begin(), view.spans.end(),
                     [](const SpanView& a, const SpanView& b) { return a.t0Us < b.t0Us; });
    for (const std::string& replica : replicas)
        publishers.erase(replica);
    view.actors.assign(publishers.begin(), publishers.end());
    view.actors.insert(view.actors.end(), replicas.begin(), replicas.end());
    view.summary = summaryOf(view.bars);
    for (const EpochView& known : run.epochs) {
        if (known.epoch != epoch)
            continue;
        view.ghost = ghostOf(known.steps, view.spans);
        for (const StepView& step : known.steps) {
            const bool isThere = step.state != "gap" && step.state != "publishing";
            if (isThere && step.step >= from && step.step <= to)
                view.visible.push_back({ step.step, step.publishedUs });
        }
    }
    if (std::ssize(view.spans) > MostTimelineSpans)
        view.spans.erase(view.spans.begin(), view.spans.end() - MostTimelineSpans);
    return view;
}

} // namespace deltascope::app
