#include "publish/left_out.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::string_view PassedOver = ": passed over, ";
constexpr std::string_view Between = ", "; ///< names

std::string beginOf(const std::string& label) { return label + " is not published: "; }

/// The names of a note on checkpoints that were passed over; none of another note.
std::set<std::string> passedOverIn(std::string_view note)
{
    std::set<std::string> names;
    const std::size_t end = note.find(PassedOver);
    if (end == std::string_view::npos)
        return names;
    for (note = note.substr(0, end);;) {
        const std::size_t next = note.find(Between);
        names.emplace(note.substr(0, next));
        if (next == std::string_view::npos)
            return names;
        note.remove_prefix(next + Between.size());
    }
}

}

Span leftOutSpan(const std::string& label, const Error& error, int epoch, std::int64_t nowUs)
{
    return { {},    std::string(Span::LeftOut),
             -1,    epoch,
             nowUs, nowUs,
             0,     fmt::format("{}{}: {}", beginOf(label), word(error.code), error.text) };
}

std::string passedOverNote(const std::vector<std::string>& labels, const std::string& why)
{
    return fmt::format("{}{}{}", fmt::join(labels, Between), PassedOver, why);
}

LeftOut::LeftOut(const Trace& trace, int epoch)
{
    for (auto span = trace.spans.rbegin(); span != trace.spans.rend(); ++span) {
        if (span->epoch != epoch)
            continue;
        if (span->phase == Span::LeftOut)
            m_notes.push_back(span->note);
        else if (span->isNote())
            m_passedOver.merge(passedOverIn(span->note));
    }
}

std::optional<Error> LeftOut::find(const std::string& label) const
{
    const std::string begin = beginOf(label);
    const auto note =
        std::find_if(m_notes.begin(), m_notes.end(), [&](const std::string& text) { return text.starts_with(begin); });
    if (note == m_notes.end())
        return std::nullopt;
    const std::string_view said = std::string_view(*note).substr(begin.size());
    const std::size_t colon = said.find(": ");
    const std::optional<Code> code = parseCode(said.substr(0, colon));
    if (!code || colon == std::string_view::npos)
        return std::nullopt;
    return Error { *code, std::string(said.substr(colon + 2)), label, {}, {} };
}

} // namespace deltascope
