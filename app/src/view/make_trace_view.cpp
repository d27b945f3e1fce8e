#include "covered_time.h"
#include "deltascope/app/view/replica_state.h"
#include "make_views.h"
#include "step_place.h"
#include "times.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace deltascope::app {

namespace {

constexpr std::int64_t LaggingVersions = 3;
constexpr double LatePeriods = 3;
constexpr double MostAheadSeconds = 300; // clocks of one machine room differ by less
constexpr double LongestPeriodSeconds = 3600;
constexpr std::int64_t ForeignAfterUs = 30'000'000; // a listing may be older than a heartbeat
constexpr std::ptrdiff_t MostTraceSpans = 20'000; // the newest

/// Versions of the newest epoch that who serves `step` (-1: none yet) does not serve; nothing where no epoch knows it.
std::optional<std::int64_t> versionsBehind(const RunView& run, std::int64_t step)
{
    const StepPlace place = placeOf(run, step);
    if (step >= 0 && place == StepPlace::Foreign)
        return std::nullopt;
    if (run.epochs.empty())
        return 0;
    const std::vector<StepView>& steps = run.epochs.back().steps;
    const bool isOfEarlierEpoch =
        place == StepPlace::Inside && !steps.empty() && step > steps.back().lastMissing && step > steps.back().step;
    return std::count_if(steps.begin(), steps.end(), [&](const StepView& view) {
        return (isOfEarlierEpoch || view.step > step) && view.state != "gap" && view.state != "publishing";
    });
}

double ageSeconds(const Heartbeat& heartbeat, std::int64_t nowUs) noexcept
{
    return static_cast<double>(nowUs - heartbeat.tUs) / 1e6;
}

/// Why a heartbeat is no sign of life; empty if it is one.
std::string doubtOf(const Heartbeat& heartbeat, std::int64_t nowUs)
{
    const double ahead = -ageSeconds(heartbeat, nowUs);
    if (ahead > MostAheadSeconds)
        return fmt::format("its clock is ahead of ours: the heartbeat is dated {:%Y-%m-%dT%H:%M:%SZ}",
                           fmt::gmtime(static_cast<std::time_t>(heartbeat.tUs / 1'000'000)));
    if (heartbeat.periodSeconds > LongestPeriodSeconds)
        return fmt::format("it says that it beats every {:.3g} hours: a period beyond an hour is not believed",
                           heartbeat.periodSeconds / 3600);
    return {};
}

void addNotes(std::vector<NoteView>& notes, const std::vector<Span>& spans)
{
    for (const Span& span : spans) {
        if (!span.isNote())
            continue;
        NoteView note { span.actor, {}, {}, span.note };
        if (span.step >= 0)
            note.step = span.step;
        if (span.hasPlace())
            note.tUs = span.t1Us;
        notes.push_back(std::move(note));
    }
}

/// Whether its times can be those of work. One whose beginning was left out lasts since 1970.
bool isCredible(const Span& span) { return span.step >= 0 && span.t1Us < LastUs && span.lengthUs() <= LongestUs; }
bool isPause(const Span& span) { return span.phase == "pause" && isCredible(span); }
bool isPlacedWork(const Span& span) { return !span.isNote() && span.hasPlace() && isCredible(span); }

/// How long one actor stood still for one step. Pauses of which nobody knows when they were may all be the same one.
std::int64_t standstillUs(const std::vector<const Span*>& spans)
{
    std::int64_t longest = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> placed;
    for (const Span* span : spans) {
        if (span->hasPlace())
            placed.emplace_back(span->t0Us, span->t1Us);
        else
            longest = std::max(longest, span->lengthUs());
    }
    return std::max(longest, coveredUs(std::move(placed)));
}

void keepLongest(Pauses& pauses, int epoch, std::int64_t step, const Pause& pause)
{
    const auto [known, isNew] = pauses.try_emplace({ epoch, step }, pause);
    if (!isNew && pause.lengthUs > known->second.lengthUs)
        known->second = pause;
}

/// When a step was published in an epoch.
struct Publication {
    int epoch = 0;
    std::int64_t publishedUs = 0;
};
using Publications = std::multimap<std::int64_t, Publication>; ///< by step

Publications publicationsOf(const Run& run)
{
    Publications publications;
    for (const Version& version : run.versions)
        publications.emplace(version.step(), Publication { version.epoch, version.objects.publishedUs() });
    return publications;
}

Publications publicationsOf(const RunView& run)
{
    Publications publications;
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps) {
            if (step.state != "gap")
                publications.emplace(step.step, Publication { epoch.epoch, step.publishedUs });
        }
    }
    return publications;
}

/// How far a span of a log lies from the publication of a step; nothing is said by a span without a time.
std::int64_t distanceUs(const Publication& publication, const Span& span)
{
    return span.hasPlace() ? std::abs(publication.publishedUs - span.t1Us) : 0;
}

/// The publication that a span of a log is about.
const Publication* publicationOf(const Publications& publications, const Span& span)
{
    const auto [first, last] = publications.equal_range(span.step);
    const auto nearest = std::min_element(first, last, [&](const auto& a, const auto& b) {
        const std::int64_t distanceA = distanceUs(a.second, span);
        const std::int64_t distanceB = distanceUs(b.second, span);
        return distanceA < distanceB || (distanceA == distanceB && a.second.epoch > b.second.epoch);
    });
    return nearest == last ? nullptr : &nearest->second;
}

using SpanKey = std::tuple<std::string, std::string, int, std::int64_t>; ///< actor, phase, epoch, step
SpanKey keyOf(const Span& span, int epoch) { return { span.actor, span.phase, epoch, span.step }; }

/// What logs tell, each phase of an actor once per version: where a trainer began anew, the same number comes twice.
template <class Meant>
std::map<SpanKey, const Span*> loggedSpans(const Publications& publications, const std::vector<Span>& logged,
                                           Meant isMeant)
{
    std::map<SpanKey, const Span*> spans;
    for (const Span& span : logged) {
        const Publication* const about = isMeant(span) ? publicationOf(publications, span) : nullptr;
        if (!about)
            continue;
        const auto [known, isNew] = spans.try_emplace(keyOf(span, about->epoch), &span);
        if (!isNew && distanceUs(*about, span) <= distanceUs(*about, *known->second))
            known->second = &span;
    }
    return spans;
}

SpanView spanView(const Span& span, int epoch)
{
    return { span.actor, span.phase, epoch, span.step, span.t0Us, span.t1Us, span.bytes };
}

/// Spans of the trace win over those of logs, as for pauses.
void addSpans(RunView& view, const std::vector<Span>& traced, const std::vector<Span>& logged)
{
    std::set<SpanKey> own;
    for (const Span& span : traced) {
        if (!isPlacedWork(span))
            continue;
        own.insert(keyOf(span, span.epoch));
        view.spans.push_back(spanView(span, span.epoch));
    }
    for (const auto& [key, span] : loggedSpans(publicationsOf(view), logged, isPlacedWork)) {
        if (!own.contains(key))
            view.spans.push_back(spanView(*span, std::get<int>(key)));
    }
    std::stable_sort(view.spans.begin(), view.spans.end(), [](const SpanView& a, const SpanView& b) {
        return std::tie(a.t0Us, a.actor) < std::tie(b.t0Us, b.actor);
    });
    if (std::ssize(view.spans) > MostTraceSpans)
        view.spans.erase(view.spans.begin(), view.spans.end() - MostTraceSpans);
}

}

bool isLate(const Heartbeat& heartbeat, std::int64_t nowUs)
{
    return ageSeconds(heartbeat, nowUs) > LatePeriods * heartbeat.periodSeconds || !doubtOf(heartbeat, nowUs).empty();
}

bool isSaidForLong(const Heartbeat& heartbeat, std::int64_t nowUs)
{
    return nowUs - heartbeat.stepSinceUs >= ForeignAfterUs;
}

void addTrace(RunView& view, const Trace& trace, const std::vector<Span>& logged, std::int64_t nowUs)
{
    for (const Heartbeat& heartbeat : trace.replicas) {
        ReplicaView replica;
        replica.id = heartbeat.id;
        replica.engine = heartbeat.engine;
        replica.state = heartbeat.state;
        replica.detail = heartbeat.detail;
        if (heartbeat.step >= 0)
            replica.step = heartbeat.step;
        if (!hasStopped(replica)) { // what it served last is of no matter any more
            replica.behind = versionsBehind(view, heartbeat.step);
            replica.foreign = !replica.behind && isSaidForLong(heartbeat, nowUs);
        }
        replica.ageSeconds = ageSeconds(heartbeat, nowUs);
        replica.late = isLate(heartbeat, nowUs);
        replica.doubt = doubtOf(heartbeat, nowUs);
        replica.lagging = replica.behind >= LaggingVersions;
        view.replicas.push_back(std::move(replica));
    }
    addSpans(view, trace.spans, logged);
    addNotes(view.notes, trace.spans);
    addNotes(view.notes, logged);
    std::stable_sort(view.notes.begin(), view.notes.end(),
                     [](const NoteView& a, const NoteView& b) { return a.tUs < b.tUs; });
}

Pauses pausesOf(const Run& run, const Trace& trace, const std::vector<Span>& logged)
{
    Pauses pauses;
    std::map<SpanKey, std::vector<const Span*>> own;
    for (const Span& span : trace.spans) {
        if (isPause(span))
            own[keyOf(span, span.epoch)].push_back(&span);
    }
    for (const auto& [key, spans] : own)
        keepLongest(pauses, std::get<int>(key), spans.front()->step, { standstillUs(spans), false });
    for (const auto& [key, span] : loggedSpans(publicationsOf(run), logged, isPause)) {
        if (!own.contains(key))
            keepLongest(pauses, std::get<int>(key), span->step, { span->lengthUs(), true });
    }
    return pauses;
}

void addPause(StepView& step, const Pauses& pauses)
{
    const auto at = pauses.find({ step.epoch, step.step });
    if (at == pauses.end() || step.state == "gap")
        return;
    step.pauseMs = static_cast<double>(at->second.lengthUs) / 1e3;
    step.pauseIsLogged = at->second.isLogged;
}

} // namespace deltascope::app
