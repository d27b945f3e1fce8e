#include "live_text.h"

#include "text.h"

#include "deltascope/app/view/json.h"
#include "deltascope/app/view/replica_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope::cli {

namespace {

/// The part of a state that is worth a line of its own; fetching and pausing pass too quickly.
std::string conditionOf(const app::ReplicaView& replica)
{
    if (hasStopped(replica))
        return replica.state;
    if (replica.late)
        return "no heartbeat";
    if (replica.foreign)
        return "foreign";
    if (refusesStep(replica) || isPoisoned(replica) || replica.state == "stalled")
        return replica.state;
    return replica.lagging && replica.step ? "replica-lag" : "";
}

/// The elements behind the first `shown` of all, as far as they are still kept.
template <class T>
typename std::vector<T>::const_iterator newIn(const std::vector<T>& kept, std::uint64_t inAll, std::uint64_t shown)
{
    const std::uint64_t fresh = std::min<std::uint64_t>(inAll - shown, kept.size());
    return kept.end() - static_cast<std::ptrdiff_t>(fresh);
}

}

void RunPrinter::show(const app::RunView& run)
{
    showContact(run);
    showSteps(run);
    for (const app::ProblemView& problem : run.problems) {
        if (m_problems.emplace(problem.code, problem.step.value_or(-1), problem.where).second)
            writeErr(problemText(problem, m_style));
    }
    for (const app::ProblemView& event : run.events) {
        if (run.lost && event.text == run.lost->text)
            continue;
        if (m_problems.emplace(event.code, event.step.value_or(-1), event.text).second && m_begun)
            writeErr(problemText(event, m_style));
    }
    showReplicas(run);
    for (const app::NoteView& note : run.notes) {
        if (m_notes.emplace(note.actor, note.tUs.value_or(0), note.text).second && m_begun)
            writeErr(paint(m_style, Paint::Dim,
                           fmt::format(" ✎  {:>6}  {}: {}", note.step ? std::to_string(*note.step) : "",
                                       safe(note.actor), safe(note.text)))
                     + "\n");
    }
    if (!m_begun && !m_style.quiet)
        writeErr(fmt::format("watching {} ({}); stop with Ctrl+C\n", safe(run.source), run.layout));
    m_begun = true;
}

void RunPrinter::showContact(const app::RunView& run)
{
    const bool isLost = run.lost.has_value();
    if (std::exchange(m_isLost, isLost) == isLost)
        return;
    writeErr(isLost ? problemText(*run.lost, m_style)
                    : paint(m_style, Paint::Good, fmt::format(" ▸  {} can be read again", safe(run.source))) + "\n");
}

void RunPrinter::showSteps(const app::RunView& run)
{
    std::map<std::pair<int, std::int64_t>, std::string> now;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            const bool growing = step.state == "publishing"; // one line, however often it grows
            std::string said = growing ? step.state : step.state + step.restore.reason + std::to_string(step.wireBytes);
            if (step.pauseIsLogged) // known long after the step; replicas of ours tell one after the other
                said += std::to_string(*step.pauseMs);
            const auto at = now.emplace(std::pair(epoch.epoch, step.step), said).first;
            const auto old = m_steps.find(at->first);
            if (old == m_steps.end() || old->second != said)
                writeOut(m_json ? app::stepToJson(step) + "\n" : stepLine(step, m_style));
        }
    }
    m_steps = std::move(now);
}

void RunPrinter::showReplicas(const app::RunView& run)
{
    for (const app::ReplicaView& replica : run.replicas) {
        const std::string condition = conditionOf(replica);
        const auto [old, isNew] = m_replicas.try_emplace(replica.id, "");
        if (!isNew && old->second == condition)
            continue;
        const bool mended = condition.empty() && !old->second.empty();
        old->second = condition;
        const std::string serves =
            replica.step ? fmt::format("serves step {}", *replica.step) : std::string("serves nothing yet");
        const bool isGone = hasStopped(replica);
        const bool isWell = condition.empty() || isGone;
        std::string line = fmt::format(" {}  {:>6}  ", isWell ? "▸" : "⚑", safe(replica.id));
        if (isGone)
            line += replica.step ? fmt::format("stopped, at step {}", *replica.step) : condition;
        else if (condition.empty())
            line += mended ? serves + ", well again" : serves;
        else
            line += fmt::format("{}: {}{}{}{}", condition, serves,
                                replica.behind ? fmt::format(", {} behind", *replica.behind)
                                               : ", which this run does not have",
                                replica.doubt.empty() ? "" : "; " + replica.doubt,
                                replica.detail.empty() ? "" : "; " + safe(replica.detail));
        writeErr(paint(m_style, !isWell ? Paint::Warn : isGone ? Paint::Dim : Paint::Good, line) + "\n");
    }
}

void PublicationPrinter::show(const app::PublishView& view)
{
    if (!m_begun && !m_style.quiet)
        writeErr(fmt::format("publishing what appears in {} into {} ({}); stop with Ctrl+C\n", safe(view.watched),
                             safe(view.source), view.layout));
    m_begun = true;
    for (auto notice = newIn(view.notices, view.noticesInAll, m_notices); notice != view.notices.end(); ++notice)
        writeErr(paint(m_style, Paint::Dim, "  " + safe(*notice)) + "\n");
    for (auto step = newIn(view.steps, view.stepsInAll, m_steps); step != view.steps.end(); ++step)
        writeOut(m_json ? app::stepToJson(*step) + "\n" : publishedLine(*step, m_style));
    m_notices = view.noticesInAll;
    m_steps = view.stepsInAll;
}

} // namespace deltascope::cli
