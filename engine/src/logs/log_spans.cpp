#include "logs/log_spans.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MostSpans = 100'000;
constexpr std::size_t MostPhasesOfASync = 64; ///< logs of which the end is never printed must not grow without end

bool isNamed(const Span& span, std::string_view phase) { return span.phase == phase; }

/// The span that stands for what was sent: the upload, else the sync, else the first.
Span* carrierOf(std::vector<Span>& spans)
{
    for (const std::string_view phase : { std::string_view("upload"), SyncPhase }) {
        const auto at =
            std::find_if(spans.begin(), spans.end(), [&](const Span& span) { return isNamed(span, phase); });
        if (at != spans.end())
            return &*at;
    }
    return spans.empty() ? nullptr : &spans.front();
}

void addPayload(std::vector<Span>& spans, std::uint64_t bytes, std::optional<double> changedFraction)
{
    Span* const carrier = carrierOf(spans);
    if (!carrier)
        return;
    carrier->bytes = bytes;
    if (changedFraction)
        carrier->note += fmt::format(": {:.4g} % changed", *changedFraction * 100);
}

}

LogSpans::LogSpans(std::string actor)
    : m_actor(std::move(actor))
{
}

void LogSpans::add(const LogEvent& event, std::optional<std::int64_t> seenUs)
{
    const std::optional<std::int64_t> atUs = event.printedUs ? event.printedUs : seenUs;
    takePause(event);
    takeNote(event, atUs);
    if (event.mark == LogMark::SyncBegan) {
        if (m_sync.open() || m_sync.step)
            endSync();
        m_sync.begun = true;
    }
    join(event, atUs);
    if (event.mark == LogMark::SyncEnded)
        endSync();
}

/// A phase as a span of the event's step. Without a known time it has a length only.
Span LogSpans::spanOf(const LogEvent& event, const LogPhase& phase, std::optional<std::int64_t> atUs) const
{
    Span span;
    span.actor = m_actor;
    span.phase = phase.phase;
    span.step = event.step.value_or(-1);
    span.note = event.framework;
    if (phase.derived)
        span.note += ", derived";
    const std::int64_t length = std::llround(phase.seconds * 1e6);
    const std::int64_t ago = std::llround(phase.secondsAgo * 1e6);
    span.t1Us = length;
    if (atUs && *atUs > ago + length) {
        span.t1Us = *atUs - ago;
        span.t0Us = span.t1Us - length;
    }
    return span;
}

/// Between two calls to an engine it stood still. Only printed times measure that: lines are read in batches.
void LogSpans::takePause(const LogEvent& event)
{
    if (event.mark == LogMark::Paused) {
        m_pausedUs = event.printedUs;
        m_pausedStep.reset();
    } else if (event.mark == LogMark::Resumed && m_pausedUs && event.printedUs && *event.printedUs > *m_pausedUs) {
        LogEvent pause = event;
        pause.step = m_pausedStep || !m_sync.open() ? m_pausedStep : m_sync.step;
        const double seconds = static_cast<double>(*event.printedUs - *m_pausedUs) / 1e6;
        keep(spanOf(pause, LogPhase { PausePhase, seconds, 0, true }, event.printedUs));
    } else if (m_pausedUs && event.step) {
        m_pausedStep = event.step;
    }
    if (event.mark == LogMark::Resumed)
        m_pausedUs.reset();
}

void LogSpans::takeNote(const LogEvent& event, std::optional<std::int64_t> atUs)
{
    if (event.note.empty())
        return;
    LogEvent told = event;
    if (!told.step && m_sync.open())
        told.step = m_sync.step;
    Span note = spanOf(told, LogPhase { "note" }, atUs);
    note.note = event.note;
    const std::pair<std::string_view, std::int64_t> said { event.kind, note.step };
    if (std::exchange(m_lastNote, said) != said) // some are printed for every tensor
        keep(std::move(note));
}

/// What the event says of the sync that it is part of.
void LogSpans::join(const LogEvent& event, std::optional<std::int64_t> atUs)
{
    std::vector<Span> spans;
    for (const LogPhase& phase : event.phases)
        spans.push_back(spanOf(event, phase, atUs));
    if (event.step && !spans.empty()) { // complete in itself
        if (m_sync.open() && !m_sync.step)
            m_sync.step = event.step;
        addPayload(spans, event.bytes, event.changedFraction);
        for (Span& span : spans)
            keep(std::move(span));
        return;
    }
    if (event.step)
        m_sync.step = event.step;
    if (event.bytes > 0)
        m_sync.bytes = event.bytes;
    if (event.changedFraction)
        m_sync.changedFraction = event.changedFraction;
    if (event.unpausedSeconds)
        m_sync.unpausedSeconds = event.unpausedSeconds;
    for (Span& span : spans) {
        if (m_sync.phases.size() < MostPhasesOfASync)
            m_sync.phases.push_back(std::move(span));
    }
}

void LogSpans::endSync()
{
    Sync ended = std::exchange(m_sync, {});
    const auto named = [&](std::string_view phase) {
        return std::find_if(ended.phases.begin(), ended.phases.end(),
                            [&](const Span& span) { return isNamed(span, phase); });
    };
    const auto whole = named(SyncPhase);
    if (ended.unpausedSeconds && whole != ended.phases.end() && named(PausePhase) == ended.phases.end()) {
        Span pause = *whole;
        const std::int64_t unpaused = std::llround(*ended.unpausedSeconds * 1e6);
        const std::int64_t length = std::max<std::int64_t>(pause.lengthUs() - unpaused, 0);
        pause.phase = PausePhase;
        pause.note += ", derived";
        if (pause.hasPlace())
            pause.t0Us = pause.t1Us - length;
        else
            pause.t1Us = length;
        ended.phases.push_back(std::move(pause));
    }
    addPayload(ended.phases, ended.bytes, ended.changedFraction);
    for (Span& span : ended.phases) {
        span.step = ended.step.value_or(-1);
        keep(std::move(span));
    }
}

void LogSpans::keep(Span span)
{
    ++m_revision;
    if (span.step >= 0) {
        if (span.step + 1 < m_lastStep) // by one: processes of one engine are not in step to the line
            beginIncarnation();
        m_lastStep = m_lastStep < 0 ? span.step : std::max(m_lastStep, span.step);
        const auto [known, isNew] = m_known.try_emplace({ span.phase, span.step }, m_spans.size());
        if (!isNew) {
            Span& old = m_spans[known->second];
            if (span.lengthUs() > old.lengthUs())
                old = std::move(span);
            return;
        }
    }
    m_spans.push_back(std::move(span));
    if (m_spans.size() >= 2 * MostSpans) {
        m_spans.erase(m_spans.begin(), m_spans.end() - MostSpans);
        m_known.clear();
    }
}

/// The trainer counts anew. Steps of before can only be told from the new ones by their times.
void LogSpans::beginIncarnation()
{
    m_known.clear();
    m_lastStep = -1;
    std::erase_if(m_spans, [](const Span& span) { return span.step >= 0 && !span.hasPlace(); });
}

} // namespace deltascope
