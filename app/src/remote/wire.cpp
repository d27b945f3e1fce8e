#include "wire.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t MostAnswerBytes = std::size_t { 1 } << 30; ///< of one answer
constexpr auto WireSilence = std::chrono::seconds(20); ///< without a byte: the connection is dead

/// The origin that a browser would name: scheme and authority of the address.
std::string originOf(const ServerAddress& address)
{
    return address.url.substr(0, address.url.find("://") + 3) + address.host;
}

Code codeOf(int status)
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

/// Of a Set-Cookie, without its attributes; empty if there is none.
std::string cookieOf(const http::Response& response)
{
    const std::string_view cookie = response.headers.find("Set-Cookie").value_or("");
    return std::string(cookie.substr(0, cookie.find(';')));
}

}

Wire::Wire(ServerAddress address, std::string secret)
    : m_address(std::move(address))
    , m_secret(std::move(secret))
{
}

Result<void> Wire::signIn()
{
    if (m_secret.empty())
        return {};
    http::Request signing =
        request("session",
                nlohmann::json { { "code", m_secret } }.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    DS_TRY(const http::Response answer, exchange(std::move(signing), {}));
    std::string cookie = cookieOf(answer);
    if (cookie.empty())
        return fail(errorOf(0, {}));
    const std::lock_guard lock(m_mutex);
    m_cookie = std::move(cookie);
    return {};
}

Result<std::string> Wire::get(const std::string& path, const WireQuery& query, const Stopped& stopped)
{
    DS_TRY(http::Response answer, exchange(request(path, query), stopped));
    return std::move(answer.body);
}

Result<std::string> Wire::post(const std::string& path, const std::string& json)
{
    DS_TRY(http::Response answer, exchange(request(path, json), {}));
    return std::move(answer.body);
}

http::Exchange Wire::listen(const std::string& path, const WireQuery& query, http::Sink& sink,
                            std::chrono::milliseconds silence)
{
    http::Request listening = request(path, query);
    listening.headers.add("Accept", "text/event-stream");
    listening.destination = &sink;
    listening.mayBeCompressed = false; // what comes is to be seen at once
    listening.stallWithin = silence;
    return m_client.start(std::move(listening));
}

void Wire::stop() noexcept { m_stopped = true; }

http::Request Wire::request(const std::string& path, const WireQuery& query) const
{
    http::Request request;
    request.url = m_address.url + "api/v1/" + path;
    char separator = '?';
    for (const auto& [key, value] : query) {
        request.url += separator + key + "=" + pathPart(value);
        separator = '&';
    }
    request.headers.add("Origin", originOf(m_address));
    request.destination = http::Keep { MostAnswerBytes };
    request.mayBeCompressed = true;
    request.stallWithin = WireSilence;
    const std::lock_guard lock(m_mutex);
    if (!m_cookie.empty())
        request.headers.add("Cookie", m_cookie);
    return request;
}

http::Request Wire::request(const std::string& path, std::string json) const
{
    http::Request posting = request(path, WireQuery());
    posting.method = "POST";
    posting.headers.add("Content-Type", "application/json");
    posting.body = http::bodyOf(std::move(json));
    return posting;
}

Result<http::Response> Wire::exchange(http::Request request, const Stopped& stopped)
{
    constexpr auto Look = std::chrono::milliseconds(50); // nobody tells when it is time to stop
    http::Exchange exchange = m_client.start(std::move(request));
    do {
        if (m_stopped || (stopped && stopped()))
            return fail(Code::Canceled, "stopped on request");
    } while (!exchange.wait(Look));
    Result<http::Response> answer = exchange.take();
    if (!answer && answer.error().code == Code::Hostile)
        return fail(Code::Unsupported, "the answer of the server is too large", m_address.host);
    if (!answer)
        return fail(noContact(answer.error().text));
    if (!answer->isGood())
        return fail(errorOf(answer->status, answer->body));
    return answer;
}

Error Wire::errorOf(int status, const std::string& body) const
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
