#include "make_views.h"

#include <algorithm>
#include <set>
#include <tuple>

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

void addNotes(std::vector<NoteView>& notes, const std::vector<Span>& spans)
{
    for (const Span& span : spans) {
        if (span.phase != "note")
            continue;
        NoteView note { span.actor, {}, {}, span.note };
        if (span.step >= 0)
            note.step = span.step;
        if (span.hasPlace())
            note.tUs = span.t1Us;
        notes.push_back(std::move(note));
    }
}

bool isPause(const Span& span) { return span.phase == "pause" && span.step >= 0; }

void keepLongest(Pauses& pauses, int epoch, const Span& span, bool isLogged)
{
    const Pause pause { span.lengthUs(), isLogged };
    const auto [known, isNew] = pauses.try_emplace({ epoch, span.step }, pause);
    if (!isNew && pause.lengthUs > known->second.lengthUs)
        known->second = pause;
}

/// How far a span of a log lies from the publication of a version; nothing is said by a span without a time.
std::int64_t distanceUs(const Version& version, const Span& span)
{
    return span.hasPlace() ? std::abs(version.objects.publishedUs() - span.t1Us) : 0;
}

using VersionsByStep = std::multimap<std::int64_t, const Version*>;

/// The version that a span of a log is about.
const Version* versionOf(const VersionsByStep& versions, const Span& span)
{
    const auto [first, last] = versions.equal_range(span.step);
    const auto nearest = std::min_element(first, last, [&](const auto& a, const auto& b) {
        const std::int64_t distanceA = distanceUs(*a.second, span);
        const std::int64_t distanceB = distanceUs(*b.second, span);
        return distanceA < distanceB || (distanceA == distanceB && a.second->epoch > b.second->epoch);
    });
    return nearest == last ? nullptr : nearest->second;
}

/// The pauses that logs tell of, one per actor and version: where a trainer began anew, the same number comes twice.
std::map<std::pair<std::string, const Version*>, const Span*> loggedPauses(const Run& run,
                                                                           const std::vector<Span>& logged)
{
    VersionsByStep versions;
    for (const Version& version : run.versions)
        versions.emplace(version.step(), &version);
    std::map<std::pair<std::string, const Version*>, const Span*> pauses;
    for (const Span& span : logged) {
        const Version* const version = isPause(span) ? versionOf(versions, span) : nullptr;
        if (!version)
            continue;
        const auto [known, isNew] = pauses.try_emplace({ span.actor, version }, &span);
        if (!isNew && distanceUs(*version, span) <= distanceUs(*version, *known->second))
            known->second = &span;
    }
    return pauses;
}

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
        replica.behind = versionsBehind(view, heartbeat.step);
        replica.ageSeconds = static_cast<double>(nowUs - heartbeat.tUs) / 1e6;
        replica.late = replica.ageSeconds > LatePeriods * heartbeat.periodSeconds;
        replica.lagging = *replica.behind >= LaggingVersions;
        view.replicas.push_back(std::move(replica));
    }
    addNotes(view.notes, trace.spans);
    addNotes(view.notes, logged);
    std::stable_sort(view.notes.begin(), view.notes.end(),
                     [](const NoteView& a, const NoteView& b) { return a.tUs < b.tUs; });
}

Pauses pausesOf(const Run& run, const Trace& trace, const std::vector<Span>& logged)
{
    Pauses pauses;
    std::set<std::tuple<std::string, int, std::int64_t>> own;
    for (const Span& span : trace.spans) {
        if (isPause(span)) {
            own.emplace(span.actor, span.epoch, span.step);
            keepLongest(pauses, span.epoch, span, false);
        }
    }
    for (const auto& [about, span] : loggedPauses(run, logged)) {
        const auto& [actor, version] = about;
        if (!own.contains({ actor, version->epoch, span->step }))
            keepLongest(pauses, version->epoch, *span, true);
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
