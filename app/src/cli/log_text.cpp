#include "text.h"

#include "deltascope/app/view/health_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope::cli {

namespace {

struct Mark {
    const char* symbol;
    Paint paint;
};

/// Shape and color of a step; the word always stands beside it.
Mark markOf(const app::StepView& step)
{
    if (step.state == "gap")
        return { " ○ ", Paint::Warn };
    if (step.state == "publishing")
        return { " ◐ ", Paint::Warn };
    if (step.state == "broken")
        return { " ✕ ", Paint::Bad };
    if (!step.restorable)
        return { " ✕ ", Paint::Bad };
    if (step.kind == "anchor")
        return { "═◆═", Paint::Anchor };
    if (step.kind == "partial_anchor")
        return { " ◇ ", Paint::Anchor };
    return { step.state == "noop" ? " – " : " ● ", Paint::Delta };
}

std::string kindWord(const app::StepView& step)
{
    if (step.kind == "partial_anchor")
        return "part. anchor";
    return step.kind;
}

std::string restoreWords(const app::StepView& step)
{
    if (step.state == "gap")
        return "no object has this number";
    if (step.restore.blockedBy)
        return fmt::format("needs step {}, which cannot be used", *step.restore.blockedBy);
    if (!step.restorable)
        return step.restore.reason;
    if (step.restore.deltas == 0)
        return bytesText(step.restore.bytes);
    return fmt::format("{}, {} {}", bytesText(step.restore.bytes), step.restore.deltas,
                       step.restore.deltas == 1 ? "delta" : "deltas");
}

std::string noteWords(const app::StepView& step)
{
    if (step.state == "gap" || !step.restorable)
        return {};
    std::string notes;
    for (const app::ProblemView& problem : step.problems) {
        if (problem.code == "DS-UNPROVEN")
            notes += "  unproven";
        else if (problem.code != "DS-PARTIAL-ANCHOR")
            notes += "  " + problem.code;
    }
    return notes;
}

/// Cuts at `width` characters; counts code points.
std::string clipped(const std::string& text, std::size_t width)
{
    std::size_t points = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80)
            continue;
        if (++points > width)
            return text.substr(0, i) + "…";
    }
    return text;
}

/// What the columns of all rows depend on.
struct Columns {
    double largestFraction = 0;
    bool paused = false; ///< some step has a pause
};

Columns columnsOf(const app::RunView& run)
{
    Columns columns;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            columns.largestFraction = std::max(columns.largestFraction, step.changedFraction.value_or(0));
            columns.paused = columns.paused || step.pauseMs;
        }
    }
    return columns;
}

std::string pausedCell(const app::StepView& step)
{
    return fmt::format("{:>9}  ", step.pauseMs ? pauseText(*step.pauseMs) : "–");
}

std::string row(const app::StepView& step, const Style& style, const Columns& columns, std::int64_t now)
{
    const Mark mark = markOf(step);
    const std::string number = step.state == "gap" && step.lastMissing > step.step
        ? fmt::format("{}-{}", step.step, step.lastMissing)
        : std::to_string(step.step);
    std::string line = paint(style, mark.paint, mark.symbol) + fmt::format(" {:>6}  ", number);
    line += paint(style, mark.paint, fmt::format("{:<12}", kindWord(step)));
    if (step.state == "gap")
        return line
            + paint(style, Paint::Dim, fmt::format("{:>{}}  {}", "", columns.paused ? 57 : 46, restoreWords(step)))
            + "\n";
    const std::string percent = step.changedFraction ? percentText(*step.changedFraction) : "–";
    const double share =
        step.changedFraction && columns.largestFraction > 0 ? *step.changedFraction / columns.largestFraction : 0;
    line += fmt::format("{:>8} ", percent);
    line += style.bars ? paint(style, Paint::Delta, barText(share, 8)) : std::string(8, ' ');
    line += fmt::format("{:>10}  {:>8}   ", bytesText(step.wireBytes), ageText(step.publishedUs, now));
    if (columns.paused)
        line += pausedCell(step);
    const std::string restore = safe(restoreWords(step));
    line += step.restorable ? paint(style, Paint::Dim, restore) : paint(style, Paint::Bad, clipped(restore, 72));
    line += paint(style, Paint::Warn, noteWords(step));
    if (step.state == "publishing")
        line += paint(style, Paint::Warn, "  publishing");
    return line + "\n";
}

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
    for (const std::string& line : { health.restorable, health.remedy }) {
        if (!line.empty())
            text += "  " + safe(line) + "\n";
    }
    return text;
}

}

std::string logText(const app::RunView& run, const Style& style, std::size_t limit)
{
    const std::int64_t now = nowUs();
    std::string text = header(run, style) + healthLines(run, style);
    const Columns columns = columnsOf(run);
    std::size_t shown = 0;
    std::size_t hidden = 0;
    text += paint(style, Paint::Dim,
                  fmt::format("\n{:>10}  {:<12}{:>8} {:<8}{:>10}  {:>8}   {}{}\n", "step", "kind", "changed", "",
                              "bytes", "age", columns.paused ? fmt::format("{:>9}  ", "paused") : "", "to rebuild"));
    for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
        if (run.epochs.size() > 1)
            text += paint(style, Paint::Dim,
                          fmt::format("── epoch {}{}\n", epoch->epoch,
                                      epoch == run.epochs.rbegin() ? " (newest run)" : " (earlier run)"));
        for (auto step = epoch->steps.rbegin(); step != epoch->steps.rend(); ++step) {
            if (limit > 0 && shown == limit) {
                ++hidden;
                continue;
            }
            text += row(*step, style, columns, now);
            ++shown;
        }
    }
    if (hidden > 0)
        text +=
            paint(style, Paint::Dim, fmt::format("   … {} older; show all of them with --all\n", countText(hidden)));
    if (!run.problems.empty()) {
        constexpr std::size_t MostProblems = 12;
        text += "\n" + paint(style, Paint::Bold, "Problems") + "\n";
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

std::string stepLine(const app::StepView& step, const Style& style)
{
    const Mark mark = markOf(step);
    std::string line = paint(style, mark.paint, mark.symbol) + fmt::format(" {:>6}  {:<12}", step.step, kindWord(step));
    line += fmt::format("{:>10}  ", bytesText(step.wireBytes));
    line += step.changedFraction ? fmt::format("{:>8}  ", percentText(*step.changedFraction)) : std::string(10, ' ');
    line += step.state;
    if (step.pauseMs)
        line += "  paused " + pauseText(*step.pauseMs);
    if (!step.restorable)
        line += "  " + paint(style, Paint::Bad, clipped(safe(restoreWords(step)), 100));
    return line + "\n";
}

} // namespace deltascope::cli
