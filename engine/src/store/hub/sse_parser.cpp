#include "sse_parser.h"

#include <algorithm>
#include <utility>

namespace deltascope::hub {

Result<void> SseParser::take(std::string_view bytes, std::vector<ServerEvent>& events)
{
    if (m_endedWithCr && bytes.starts_with('\n'))
        bytes.remove_prefix(1);
    if (!bytes.empty())
        m_endedWithCr = false;
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
        if (end > m_mostEventBytes - std::min(m_mostEventBytes, m_line.size() + m_event.data.size()))
            return fail(Code::Hostile, "an event of the Hub is larger than any change needs");
        m_line += bytes.substr(0, end);
        if (end == bytes.size())
            return {};
        endLine(events);
        const bool isCr = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        m_endedWithCr = isCr && bytes.empty();
        if (isCr && bytes.starts_with('\n'))
            bytes.remove_prefix(1);
    }
    return {};
}

void SseParser::endLine(std::vector<ServerEvent>& events)
{
    std::string_view line = m_line;
    if (m_isFirstLine && line.starts_with("\xef\xbb\xbf"))
        line.remove_prefix(3);
    m_isFirstLine = false;
    if (line.empty()) {
        if (m_hasData) {
            if (m_event.name.empty())
                m_event.name = "message";
            events.push_back(std::move(m_event));
        }
        m_event = {};
        m_hasData = false;
    } else if (!line.starts_with(':')) {
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string_view field = line.substr(0, colon);
        std::string_view value = line.substr(std::min(colon + 1, line.size()));
        if (value.starts_with(' '))
            value.remove_prefix(1);
        if (field == "event") {
            m_event.name = value;
        } else if (field == "data") {
            if (std::exchange(m_hasData, true))
                m_event.data += '\n';
            m_event.data += value;
        }
    }
    m_line.clear();
}

} // namespace deltascope::hub
