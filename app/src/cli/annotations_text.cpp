#include "text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

std::int64_t now()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string localWords(bool isLocal) { return isLocal ? "  on this machine only" : ""; }

}

std::string refsText(const app::AnnotationsView& annotations, const Style& style)
{
    if (annotations.refs.empty())
        return "no version of this run has a word or a pin; deltascope ref SOURCE@STEP NAME gives it one\n";
    std::size_t widest = 0;
    for (const app::RefView& ref : annotations.refs)
        widest = std::max(widest, ref.word.size());
    std::string text;
    for (const app::RefView& ref : annotations.refs) {
        text += paint(style, Paint::Bold, fmt::format("{:<{}}", safe(ref.word), widest));
        text += ref.step ? fmt::format("  step {}", *ref.step) : std::string("  unknown step");
        if (ref.tUs > 0)
            text += paint(style, Paint::Dim, fmt::format("  {} by {}", ageText(ref.tUs, now()), safe(ref.by)));
        text += ref.why.empty() ? "" : "  " + safe(ref.why);
        text += paint(style, Paint::Warn, localWords(ref.isLocal)) + "\n";
        if (ref.problem)
            text += problemText(*ref.problem, style);
    }
    for (const app::ProblemView& problem : annotations.problems) {
        const bool isSaid = std::any_of(annotations.refs.begin(), annotations.refs.end(),
                                        [&](const app::RefView& ref) { return ref.problem == problem; });
        text += isSaid ? "" : problemText(problem, style);
    }
    return text;
}

std::string journalText(const app::AnnotationsView& annotations, const Style& style)
{
    if (annotations.journal.empty())
        return "nothing was done to this run by Deltascope\n";
    std::string text;
    for (const app::JournalEntryView& entry : annotations.journal) {
        const std::string who =
            entry.by.empty() ? "" : fmt::format("  {} by {}", ageText(entry.tUs, now()), safe(entry.by));
        text += fmt::format("{:>4}  {:<8} {}", entry.number, safe(entry.act), safe(entry.text));
        if (entry.phase != "done")
            text += paint(style, Paint::Warn, "  " + safe(entry.phase));
        text += paint(style, Paint::Dim, who) + paint(style, Paint::Warn, localWords(entry.isLocal)) + "\n";
    }
    return text;
}

} // namespace deltascope::cli
