#include "publish/left_out.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

std::string beginOf(const std::string& label) { return label + " is not published: "; }

}

Span leftOutSpan(const std::string& label, const Error& error, int epoch, std::int64_t nowUs)
{
    return { {},    std::string(Span::LeftOut),
             -1,    epoch,
             nowUs, nowUs,
             0,     fmt::format("{}{}: {}", beginOf(label), word(error.code), error.text) };
}

LeftOut::LeftOut(const Trace& trace, int epoch)
{
    for (auto span = trace.spans.rbegin(); span != trace.spans.rend(); ++span) {
        if (span->phase == Span::LeftOut && span->epoch == epoch)
            m_notes.push_back(span->note);
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
