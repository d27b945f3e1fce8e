#include "step_rows.h"

#include "text.h"

#include <algorithm>
#include <fmt/format.h>

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

std::string refWords(const app::StepView& step)
{
    return step.refs.empty() ? std::string() : safe(fmt::format("  ({})", fmt::join(step.refs, ", ")));
}

std::string restoresWords(const app::StepView& step)
{
    if (!step.role.empty())
        return step.role == "final_save" ? "  final save" : "  model that is older than the checkpoints";
    if (!step.branchOf.empty())
        return "  branch of " + safe(step.branchOf);
    return step.restores ? fmt::format("  restores {}", *step.restores) : std::string();
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

std::string pausedCell(const app::StepView& step)
{
    return fmt::format("{:>9}  ", step.pauseMs ? pauseText(*step.pauseMs) : "–");
}

}

StepRows::StepRows(const app::LogView& log, const Style& style)
    : m_style(style)
    , m_log(log)
    , m_now(nowUs())
{
    for (const app::EpochView& epoch : log.run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            m_largestFraction = std::max(m_largestFraction, step.changedFraction.value_or(0));
            m_paused = m_paused || step.pauseMs;
        }
    }
    for (const app::StepChangeView& change : log.changes)
        m_changes[{ change.epoch, change.step }] = &change;
}

std::string StepRows::head() const
{
    if (m_log.globs.empty())
        return paint(m_style, Paint::Dim,
                     fmt::format("{:>10}  {:<12}{:>8} {:<8}{:>10}  {:>8}   {}{}\n", "step", "kind", "changed", "",
                                 "bytes", "age", m_paused ? fmt::format("{:>9}  ", "paused") : "", "to rebuild"));
    return paint(m_style, Paint::Dim,
                 fmt::format("{:>10}  {:<12}{:>16} {:>8} {:>9} {:>10}  {:>8}\n", "step", "kind", "changed", "share",
                             "tensors", "in bytes", "age"));
}

std::string StepRows::row(const app::StepView& step) const
{
    return m_log.globs.empty() || step.state == "gap" ? runRow(step) : selectionRow(step);
}

bool StepRows::isUntouched(const app::StepView& step) const
{
    const app::StepChangeView* change = changeOf(step);
    return !m_log.globs.empty() && step.restorable && change && change->elements == 0U && change->unlike == 0;
}

const app::StepChangeView* StepRows::changeOf(const app::StepView& step) const
{
    const auto change = m_changes.find({ step.epoch, step.step });
    return change == m_changes.end() ? nullptr : change->second;
}

/// What differs from the checkpoint before.
std::string StepRows::changeWords(const app::StepView& step) const
{
    const app::StepChangeView* change = changeOf(step);
    if (!change || step.state == "gap")
        return {};
    if (!change->elements)
        return change->why.empty() ? "" : "  not compared: " + clipped(safe(change->why), 72);
    std::string text =
        fmt::format("  {} in {}", counted(*change->elements, "element"), counted(*change->tensors, "tensor"));
    if (change->bytes)
        text += fmt::format(" ({})", bytesText(*change->bytes));
    if (change->unlike > 0)
        text += fmt::format("; {} only in one of both, or of another form", counted(change->unlike, "tensor"));
    return text;
}

std::string StepRows::runRow(const app::StepView& step) const
{
    const Mark mark = markOf(step);
    const std::string number = step.state == "gap" && step.lastMissing > step.step
        ? fmt::format("{}-{}", step.step, step.lastMissing)
        : std::to_string(step.step);
    std::string line = paint(m_style, mark.paint, mark.symbol) + fmt::format(" {:>6}  ", number);
    line += paint(m_style, mark.paint, fmt::format("{:<12}", kindWord(step)));
    if (step.state == "gap")
        return line + paint(m_style, Paint::Dim, fmt::format("{:>{}}  {}", "", m_paused ? 57 : 46, restoreWords(step)))
            + "\n";
    const std::string percent = step.changedFraction ? percentText(*step.changedFraction) : "–";
    const double share = step.changedFraction && m_largestFraction > 0 ? *step.changedFraction / m_largestFraction : 0;
    line += fmt::format("{:>8} ", percent);
    line += m_style.bars ? paint(m_style, Paint::Delta, barText(share, 8)) : std::string(8, ' ');
    line += fmt::format("{:>10}  {:>8}   ", bytesText(step.wireBytes), ageText(step.publishedUs, m_now));
    if (m_paused)
        line += pausedCell(step);
    const std::string restore = safe(restoreWords(step));
    line += step.restorable ? paint(m_style, Paint::Dim, restore) : paint(m_style, Paint::Bad, clipped(restore, 72));
    line += paint(m_style, Paint::Dim, changeWords(step)) + paint(m_style, Paint::Warn, noteWords(step));
    line += paint(m_style, Paint::Bold, restoresWords(step) + refWords(step));
    if (step.state == "publishing")
        line += paint(m_style, Paint::Warn, "  publishing");
    return line + "\n";
}

std::string StepRows::selectionRow(const app::StepView& step) const
{
    const Mark mark = markOf(step);
    std::string line = paint(m_style, mark.paint, mark.symbol) + fmt::format(" {:>6}  ", step.step)
        + paint(m_style, mark.paint, fmt::format("{:<12}", kindWord(step)));
    const app::StepChangeView* change = changeOf(step);
    if (!change || !change->elements) {
        const std::string why = !step.restorable ? restoreWords(step) : change ? change->why : std::string();
        return line
            + fmt::format("{:>16} {:>8} {:>9} {:>10}  {:>8}", "–", "–", "–", "–", ageText(step.publishedUs, m_now))
            + (why.empty() ? "" : "   not known: " + clipped(safe(why), 72)) + "\n";
    }
    const double share =
        m_log.elements > 0 ? static_cast<double>(*change->elements) / static_cast<double>(m_log.elements) : 0;
    line += fmt::format("{:>16} {:>8} {:>9} {:>10}  {:>8}", countText(*change->elements), percentText(share),
                        countText(*change->tensors), change->bytes ? bytesText(*change->bytes) : UnknownText,
                        ageText(step.publishedUs, m_now));
    if (change->unlike > 0)
        line += fmt::format("   {} only in one of both, or of another form", counted(change->unlike, "tensor"));
    if (!step.restorable)
        line += "   " + paint(m_style, Paint::Bad, clipped(safe(restoreWords(step)), 72));
    return line + paint(m_style, Paint::Warn, noteWords(step)) + paint(m_style, Paint::Bold, restoresWords(step))
        + "\n";
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
    line += paint(style, Paint::Bold, restoresWords(step));
    if (!step.restorable)
        line += "  " + paint(style, Paint::Bad, clipped(safe(restoreWords(step)), 100));
    return line + "\n";
}

} // namespace deltascope::cli
