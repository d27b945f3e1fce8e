#pragma once

#include "deltascope/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::hub {

struct ServerEvent {
    std::string name; ///< "message" where the event has none
    std::string data; ///< the lines of it, with line feeds between them

    bool operator==(const ServerEvent&) const = default;
};

/// Server-sent events out of bytes that may be cut anywhere (WHATWG HTML, 9.2.6: lines end with CR LF, LF or CR; a
/// blank line ends an event; without data it is none). Comments, "id" and "retry" are passed over. One thread.
class SseParser {
public:
    /// An event with more bytes than that is refused.
    explicit SseParser(std::size_t mostEventBytes = std::size_t { 16 } << 20)
        : m_mostEventBytes(mostEventBytes)
    {
    }

    /// Appends what has ended to `events`. Errors: Hostile, and then for good.
    Result<void> take(std::string_view bytes, std::vector<ServerEvent>& events);

private:
    void endLine(std::vector<ServerEvent>& events);

    std::size_t m_mostEventBytes;
    std::string m_line;
    ServerEvent m_event;
    bool m_hasData = false;
    bool m_endedWithCr = false; ///< a line feed that follows belongs to that line end
    bool m_isFirstLine = true;
};

} // namespace deltascope::hub
