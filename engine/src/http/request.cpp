#include "deltascope/engine/http.h"
#include "deltascope/engine/http_url.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::http {

namespace {

class OwnedBody final : public Body {
public:
    explicit OwnedBody(std::string bytes)
        : m_bytes(std::move(bytes))
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes.size(); }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        const std::size_t at = std::min<std::uint64_t>(offset, m_bytes.size());
        const std::size_t count = std::min(out.size(), m_bytes.size() - at);
        std::copy_n(asBytes(m_bytes).begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
        return count;
    }

private:
    const std::string m_bytes;
};

Code codeOfStatus(int status)
{
    switch (status) {
    case 401:
    case 403:
        return Code::Auth;
    case 404:
    case 410:
        return Code::NotFound;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        return Code::Transient;
    case 501:
    case 505:
        return Code::Unsupported;
    default:
        return status >= 300 && status < 400 ? Code::Unsupported : Code::Io;
    }
}

}

std::shared_ptr<const Body> bodyOf(std::string bytes) { return std::make_shared<const OwnedBody>(std::move(bytes)); }

bool isRepeatable(const Request& request) noexcept
{
    return request.repeatable.value_or(request.method != "POST" && request.method != "PATCH");
}

Error errorOfStatus(int status, const std::string& url)
{
    const Result<Url> parsed = Url::parse(url);
    return { codeOfStatus(status),
             fmt::format("{} answers with status {}", parsed ? parsed->authority() : "", status),
             parsed ? parsed->publicText() : "",
             std::nullopt,
             {} };
}

} // namespace deltascope::http
