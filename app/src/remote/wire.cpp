#include "wire.h"

#include "curl_parts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t MostAnswerBytes = std::size_t { 1 } << 30; ///< of one answer
constexpr long SilenceSeconds = 20; ///< without a byte: the connection is dead
constexpr std::size_t MostIdle = 8;

bool good(long status) { return status >= 200 && status < 300; }

/// The origin that a browser would name: scheme and authority of the address.
std::string originOf(const ServerAddress& address)
{
    return address.url.substr(0, address.url.find("://") + 3) + address.host;
}

Code codeOf(long status)
{
    switch (status) {
    case 401:
    case 403:
    case 429:
        return Code::Auth;
    case 404:
        return Code::NotFound;
    case 502:
    case 503:
    case 504:
        return Code::Transient;
    default:
        return status >= 500 ? Code::Io : Code::Unsupported;
    }
}

}

/// One connection, kept between requests. One thread at a time.
class Wire::Line {
public:
    Result<Answer> exchange(const Wire& wire, const Request& request)
    {
        Transfer transfer { wire, request, {} };
        std::vector<std::string> lines = wire.headers();
        if (request.body) {
            lines.emplace_back("Content-Type: application/json");
            lines.emplace_back("Expect:");
        }
        const CurlHeaders headers = curlHeaders(lines);
        CURL* const easy = m_easy.get();
        curl_easy_reset(easy); // keeps the connection
        setCommon(easy, request.url, headers.get());
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, SilenceSeconds);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, takeBytes);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, takeHeader);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, askWhetherToStop);
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
        if (request.body) {
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body->data());
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
        }
        const CURLcode result = curl_easy_perform(easy);
        if (transfer.stopped())
            return fail(Code::Canceled, "stopped on request");
        if (result == CURLE_WRITE_ERROR)
            return fail(Code::Unsupported, "the answer of the server is too large", wire.address().host);
        if (result != CURLE_OK)
            return fail(wire.noContact(curl_easy_strerror(result)));
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &transfer.answer.status);
        return std::move(transfer.answer);
    }

private:
    struct Transfer {
        const Wire& wire;
        const Request& request;
        Answer answer;

        bool stopped() const { return wire.m_stopped || (request.stopped && *request.stopped && (*request.stopped)()); }
    };

    static std::size_t takeBytes(char* bytes, std::size_t size, std::size_t count, void* to)
    {
        std::string& body = static_cast<Transfer*>(to)->answer.body;
        if (body.size() + size * count > MostAnswerBytes)
            return 0;
        body.append(bytes, size * count);
        return size * count;
    }
    static std::size_t takeHeader(char* bytes, std::size_t size, std::size_t count, void* to)
    {
        constexpr std::string_view Name = "set-cookie:";
        const std::string_view line(bytes, size * count);
        const bool isCookie = line.size() > Name.size()
            && std::equal(Name.begin(), Name.end(), line.begin(),
                          [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? char(b | 0x20) : b); });
        if (isCookie) {
            std::string_view value = line.substr(Name.size());
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
            static_cast<Transfer*>(to)->answer.cookie = value.substr(0, value.find_first_of(";\r\n"));
        }
        return size * count;
    }
    static int askWhetherToStop(void* from, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
    {
        return static_cast<Transfer*>(from)->stopped() ? 1 : 0;
    }

    CurlEasy m_easy { curl_easy_init() };
};

Wire::Wire(ServerAddress address, std::string secret)
    : m_address(std::move(address))
    , m_secret(std::move(secret))
{
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(ready);
}

Wire::~Wire() = default;

Result<void> Wire::signIn()
{
    if (m_secret.empty())
        return {};
    const std::string body =
        nlohmann::json { { "code", m_secret } }.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    DS_TRY(Answer answer, exchange({ urlOf("session"), &body, nullptr }));
    if (!good(answer.status))
        return fail(errorOf(answer.status, answer.body));
    if (answer.cookie.empty())
        return fail(errorOf(0, {}));
    const std::lock_guard lock(m_mutex);
    m_cookie = std::move(answer.cookie);
    return {};
}

Result<std::string> Wire::get(const std::string& path, const WireQuery& query, const Stopped& stopped)
{
    DS_TRY(Answer answer, exchange({ urlOf(path, query), nullptr, &stopped }));
    if (!good(answer.status))
        return fail(errorOf(answer.status, answer.body));
    return std::move(answer.body);
}

Result<std::string> Wire::post(const std::string& path, const std::string& json)
{
    DS_TRY(Answer answer, exchange({ urlOf(path), &json, nullptr }));
    if (!good(answer.status))
        return fail(errorOf(answer.status, answer.body));
    return std::move(answer.body);
}

void Wire::stop() noexcept { m_stopped = true; }

Result<Wire::Answer> Wire::exchange(const Request& request)
{
    std::unique_ptr<Line> line = takeLine();
    Result<Answer> answer = line->exchange(*this, request);
    const std::lock_guard lock(m_mutex);
    if (answer && m_idle.size() < MostIdle)
        m_idle.push_back(std::move(line));
    return answer;
}

std::unique_ptr<Wire::Line> Wire::takeLine()
{
    const std::lock_guard lock(m_mutex);
    if (m_idle.empty())
        return std::make_unique<Line>();
    std::unique_ptr<Line> line = std::move(m_idle.back());
    m_idle.pop_back();
    return line;
}

std::vector<std::string> Wire::headers() const
{
    std::vector<std::string> lines { "Origin: " + originOf(m_address) };
    const std::lock_guard lock(m_mutex);
    if (!m_cookie.empty())
        lines.push_back("Cookie: " + m_cookie);
    return lines;
}

std::string Wire::urlOf(const std::string& path, const WireQuery& query) const
{
    std::string url = m_address.url + "api/v1/" + path;
    char separator = '?';
    for (const auto& [key, value] : query) {
        url += separator + key + "=" + pathPart(value);
        separator = '&';
    }
    return url;
}

Error Wire::errorOf(long status, const std::string& body) const
{
    const nlohmann::json problem = nlohmann::json::parse(body, nullptr, false);
    const auto text = [&](const char* key) {
        const bool has = problem.is_object() && problem.contains(key) && problem[key].is_string();
        return has ? problem[key].get<std::string>() : std::string();
    };
    if (const std::string detail = text("detail"); !detail.empty())
        return { parseCode(text("code")).value_or(codeOf(status)), detail, m_address.host, {}, text("hint") };
    return { codeOf(status),
             fmt::format("no Deltascope server answers there (status {})", status),
             m_address.host,
             {},
             "look at the address: its port and the path behind it" };
}

Error Wire::noContact(const std::string& why) const
{
    return { Code::Transient,
             "no contact with the server: " + why,
             m_address.host,
             {},
             "see that deltascope serve runs there and that this machine reaches it" };
}

std::string pathPart(std::string_view text)
{
    constexpr std::string_view Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    std::string escaped;
    for (const char c : text) {
        if (Plain.find(c) != std::string_view::npos)
            escaped += c;
        else
            escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return escaped;
}

} // namespace deltascope::app
