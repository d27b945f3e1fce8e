#pragma once

#include "deltascope/engine/http.h"

#include <optional>
#include <string>
#include <string_view>

namespace deltascope::http {

/// Whether redirects of the answer are followed: of what only asks.
bool followsRedirects(const Request& request) noexcept;

/// Makes a Response of header lines and pieces of the body, and says when enough was read. One thread.
class Answer {
public:
    /// `request` must live as long. `host`: for texts.
    Answer(const Request& request, std::string host)
        : m_request(request)
        , m_host(std::move(host))
    {
    }

    /// Both: false: the rest is not wanted; refusal() says whether that is an error.
    bool takeHeader(std::string_view line);
    bool takeBody(ByteSpan bytes);

    const std::optional<Error>& refusal() const noexcept { return m_refusal; }
    bool isCut() const noexcept { return !m_response.isWhole; }
    bool hasHead() const noexcept { return m_hasHead; } ///< of the last answer
    int status() const noexcept { return m_response.status; }

    /// After the end. Errors: Transient where the body is not as long as Content-Range says.
    Result<Response> finish();

private:
    bool endHead();
    bool isRangeAsked() const;
    bool keepText(ByteSpan bytes);
    bool refuse(Error error);

    const Request& m_request;
    const std::string m_host;
    Response m_response;
    std::optional<Error> m_refusal;
    std::size_t m_headerBytes = 0;
    bool m_hasHead = false;
    bool m_isWanted = false; ///< the body goes to the destination
};

} // namespace deltascope::http
