#include "step_rows.h"
#include "text.h"

#include "deltascope/app/view/health_view.h"
#include "deltascope/base/code.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope::cli {

namespace {

/// What has a higher number than the newest step that can be rebuilt, and is of an earlier run.
std::string higherNumber(const app::RunView& run)
{
    const app::StepView* highest = nullptr;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            if (step.state != "gap" && (!highest || step.step > highest->step))
                highest = &step;
        }
    }
    if (!run.latest || !highest || highest->step <= *run.latest || highest->epoch == run.epochs.back().epoch)
        return {};
    return fmt::format("; step {} belongs to an earlier run", highest->step);
}

std::string header(const app::RunView& run, const Style& style)
{
    std::map<std::string, std::size_t> kinds;
    std::size_t versions = 0;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            ++kinds[step.kind];
            versions += step.state != "gap";
        }
    }
    std::string text = paint(style, Paint::Bold, safe(run.run)) + "  " + run.layout + "  " + safe(run.source) + "\n";
    text += fmt::format("{}: {}, {}", counted(versions, "version"),
                        counted(kinds["anchor"] + kinds["partial_anchor"], "anchor"), counted(kinds["delta"], "delta"));
    if (kinds["gap"] > 0)
        text += ", " + counted(kinds["gap"], "gap");
    text += fmt::format(" · {}", bytesText(run.wireBytes));
    text += run.latest ? fmt::format(" · newest restorable step {}", *run.latest)
                       : std::string(" · no step can be rebuilt");
    return text + higherNumber(run) + "\n";
}

/// What is wrong with the run as a whole, in the words of all faces; empty: nothing.
std::string healthLines(const app::RunView& run, const Style& style)
{
    const app::HealthView health = app::makeHealth(run, {});
    const bool broken = health.state == "broken";
    if (!broken && health.state != "doubtful")
        return {};
    std::string text =
        paint(style, broken ? Paint::Bad : Paint::Warn, (broken ? "✕ " : "! ") + safe(health.headline)) + "\n";
    const bool isRewritten = health.problem && health.problem->code == word(Code::Rewritten);
    const std::string reason = isRewritten ? health.problem->where + ": " + health.problem->text : std::string();
    for (const std::string& line : { reason, health.restorable, health.remedy }) {
        if (!line.empty())
            text += "  " + safe(line) + "\n";
    }
    return text;
}

/// All runs that lie below the address, where there are several.
std::string runsText(const app::RunView& run)
{
    std::string text;
    for (const app::RunPlaceView& other : run.runs) {
        const std::string name = other.place.empty() ? "the folder itself" : other.place + (other.isFolder ? "" : "*");
        text += fmt::format("  {}: {}, newest {}{}\n", safe(name), counted(other.steps, "step"), other.latest,
                            other.shown ? "; it is shown here" : "");
    }
    return text.empty() ? text : fmt::format("{} runs lie below this address\n", run.runs.size()) + text;
}

/// Which tensors the log is about; empty: it is about steps.
std::string selectionLine(const app::LogView& log)
{
    if (log.globs.empty())
        return {};
    return fmt::format("about {} of {}, {}: {}\n", countText(log.tensors), counted(log.tensorsInAll, "tensor"),
                       counted(log.elements, "element"), safe(fmt::format("{}", fmt::join(log.globs, " "))));
}

/// How many plain checkpoints were compared.
std::string comparisonLine(const app::LogView& log)
{
    if (!log.comparison || log.comparison->pairs == 0)
        return {};
    const app::ComparisonView& comparison = *log.comparison;
    std::string text = fmt::format("compared with the checkpoint before: {} of {}", comparison.compared,
                                   counted(comparison.pairs, "checkpoint"));
    if (comparison.known > 0)
        text += fmt::format(", {} of them earlier", comparison.known);
    if (comparison.compared < comparison.pairs && comparison.mostBytes)
        text += fmt::format("; --compare N compares the newest N, whatever there is to read (unasked, at most {})",
                            bytesText(*comparison.mostBytes));
    return text + "\n";
}

/// Refs that mean no version of the run, and what people wrote about its versions.
std::string annotationsText(const app::RunView& run, const Style& style)
{
    constexpr std::size_t MostNotes = 8;
    std::string text;
    for (const app::RefView& ref : run.refs) {
        if (ref.problem)
            text += problemText(*ref.problem, style);
    }
    const std::size_t first = run.notes.size() - std::min(run.notes.size(), MostNotes);
    if (first > 0)
        text += paint(style, Paint::Dim, fmt::format("  … {} earlier with --json\n", counted(first, "note")));
    for (std::size_t i = first; i < run.notes.size(); ++i) {
        const app::NoteView& note = run.notes[i];
        text += fmt::format("  {}{} ", note.step ? fmt::format("step {}: ", *note.step) : "", safe(note.text));
        text += paint(style, Paint::Dim, "(" + safe(note.actor) + ")") + "\n";
    }
    return text.empty() ? text : "\n" + paint(style, Paint::Bold, "Refs and notes") + "\n" + text;
}

std::string problemsText(const app::RunView& run, const Style& style)
{
    std::string text;
    if (!run.problems.empty()) {
        constexpr std::size_t MostProblems = 12;
        text += "\n" + paint(style, Paint::Bold, problemsHeading(run.problems)) + "\n";
        for (std::size_t i = 0; i < std::min(run.problems.size(), MostProblems); ++i)
            text += problemText(run.problems[i], style);
        if (run.problems.size() > MostProblems)
            text +=
                paint(style, Paint::Dim, fmt::format("  … {} more with --json\n", run.problems.size() - MostProblems));
    }
    if (!run.events.empty()) {
        text += "\n" + paint(style, Paint::Bold, "Since this source was first seen") + "\n";
        for (const app::ProblemView& event : run.events)
            text += problemText(event, style);
    }
    return text;
}

}

std::string logText(const app::LogView& log, const Style& style, std::size_t limit, bool all)
{
    const app::RunView& run = log.run;
    std::string text =
        header(run, style) + runsText(run) + healthLines(run, style) + selectionLine(log) + comparisonLine(log);
    const StepRows rows(log, style);
    std::size_t shown = 0;
    std::size_t older = 0;
    std::size_t untouched = 0;
    text += "\n" + rows.head();
    for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
        if (run.epochs.size() > 1)
            text += paint(style, Paint::Dim,
                          fmt::format("── epoch {}{}\n", epoch->epoch,
                                      epoch == run.epochs.rbegin() ? " (newest run)" : " (earlier run)"));
        for (auto step = epoch->steps.rbegin(); step != epoch->steps.rend(); ++step) {
            if (!all && rows.isUntouched(*step)) {
                ++untouched;
                continue;
            }
            if (limit > 0 && shown == limit) {
                ++older;
                continue;
            }
            text += rows.row(*step);
            ++shown;
        }
    }
    if (older > 0)
        text += paint(style, Paint::Dim, fmt::format("   … {} older; show all of them with --all\n", countText(older)));
    if (untouched > 0)
        text += paint(style, Paint::Dim,
                      fmt::format("   left out: {} without a change in {}; show all of them with --all\n",
                                  counted(untouched, "step"), log.tensors == 1 ? "it" : "them"));
    return text + annotationsText(run, style) + problemsText(run, style);
}

} // namespace deltascope::cli
