#include "answer.h"

#include "header_text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace deltascope::http {

namespace {

constexpr std::size_t MostHeaderBytes = std::size_t { 64 } << 10; ///< of all answers to one request
constexpr std::size_t MostTextBytes = std::size_t { 64 } << 10; ///< of an answer that is not good

/// "HTTP/1.1 200 OK": 200.
int statusOf(std::string_view line)
{
    const std::size_t at = std::min(line.find(' '), line.size());
    const std::string_view rest = trimmed(line.substr(at));
    return static_cast<int>(parseNumber(rest.substr(0, std::min(rest.find(' '), rest.size()))).value_or(0));
}

Error tooLarge(std::string text)
{
    return { Code::Hostile, std::move(text), {}, std::nullopt, "see that the address is right" };
}

}

bool followsRedirects(const Request& request) noexcept
{
    return request.followRedirects && (request.method == "GET" || request.method == "HEAD");
}

bool Answer::takeHeader(std::string_view line)
{
    m_headerBytes += line.size();
    if (m_headerBytes > MostHeaderBytes)
        return refuse(tooLarge(fmt::format("the headers that {} sends are larger than any server needs", m_host)));
    if (line.starts_with("HTTP/")) { // of the first answer, or of the next one behind a redirect
        m_response.headers.clear();
        m_response.status = statusOf(line);
        m_hasHead = false;
        return true;
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
        m_response.headers.add(std::string(trimmed(line.substr(0, colon))),
                               std::string(trimmed(line.substr(colon + 1))));
    else if (trimmed(line).empty() && !m_hasHead)
        return endHead();
    return true;
}

bool Answer::endHead()
{
    const int status = m_response.status;
    const bool isRedirect = status >= 300 && status < 400 && !m_response.headers.find("Location").value_or("").empty();
    if (status < 200 || (isRedirect && followsRedirects(m_request)))
        return true;
    m_hasHead = true;
    m_response.contentRange = parseContentRange(m_response.headers.find("Content-Range").value_or(""));
    if (m_request.headAlone) {
        m_response.isWhole = false;
        return false;
    }
    m_isWanted = m_response.isGood() && isRangeAsked();
    if (Sink* const* const sink = std::get_if<Sink*>(&m_request.destination); sink && m_isWanted)
        (*sink)->begin(m_response);
    return true;
}

bool Answer::isRangeAsked() const
{
    if (!m_request.range)
        return true;
    return m_response.status == 206 && m_response.contentRange
        && m_response.contentRange->range.offset == m_request.range->offset
        && m_response.contentRange->range.bytes <= m_request.range->bytes;
}

bool Answer::takeBody(ByteSpan bytes)
{
    if (!m_isWanted)
        return keepText(bytes);
    const std::uint64_t taken = std::exchange(m_response.takenBytes, m_response.takenBytes + bytes.size());
    if (Sink* const* const sink = std::get_if<Sink*>(&m_request.destination)) {
        const Result<void> outcome = (*sink)->take(bytes);
        return outcome || refuse(outcome.error());
    }
    if (const MutableByteSpan* const room = std::get_if<MutableByteSpan>(&m_request.destination)) {
        if (bytes.size() > room->size() - taken)
            return refuse(tooLarge(fmt::format("the answer of {} is longer than what was asked for", m_host)));
        std::memcpy(room->data() + taken, bytes.data(), bytes.size());
        return true;
    }
    if (bytes.size() > std::get<Keep>(m_request.destination).limitBytes - taken)
        return refuse(tooLarge(fmt::format("the answer of {} is too large", m_host)));
    m_response.body += asText(bytes);
    return true;
}

bool Answer::keepText(ByteSpan bytes)
{
    if (m_response.isGood()) { // other bytes than the range
        m_response.isWhole = false;
        return false;
    }
    const std::size_t count = std::min(bytes.size(), MostTextBytes - m_response.body.size());
    m_response.body += asText(bytes.first(count));
    m_response.isWhole = count == bytes.size();
    return m_response.isWhole;
}

bool Answer::refuse(Error error)
{
    m_refusal = std::move(error);
    return false;
}

Result<Response> Answer::finish()
{
    const auto& range = m_response.contentRange;
    if (m_isWanted && m_request.range && range->range.bytes != m_response.takenBytes)
        return fail(Code::Transient,
                    fmt::format("the answer of {} holds {} bytes where its Content-Range says {}", m_host,
                                m_response.takenBytes, range->range.bytes));
    return std::move(m_response);
}

} // namespace deltascope::http
