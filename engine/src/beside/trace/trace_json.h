#pragma once

#include "deltascope/engine/trace.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

inline constexpr std::uint64_t MostTraceObjectBytes = std::uint64_t { 1 } << 20; ///< larger ones are not ours

/// Hands over each line without its break; behind the last one there may be none.
template <class Take> void eachLine(std::string_view text, Take take)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        take(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

std::string spanToLine(const Span& span); ///< with its line break
std::optional<Span> spanFromLine(std::string_view line);
std::string heartbeatToText(const Heartbeat& heartbeat);
std::optional<Heartbeat> heartbeatFromText(std::string_view text);

} // namespace deltascope
