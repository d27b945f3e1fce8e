#include "route.h"

#include "server/problem.h"

#include <charconv>
#include <fmt/format.h>

namespace deltascope::server {

namespace {

constexpr std::string_view Prefix = "/api/v1/";

std::vector<std::string> split(std::string_view path)
{
    std::vector<std::string> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t end = path.find('/', begin);
        parts.emplace_back(path.substr(begin, end - begin));
        if (end == std::string_view::npos)
            return parts;
        begin = end + 1;
    }
}

/// What stands in place of {}, if the path fits the pattern.
std::optional<std::vector<std::string>> match(const std::vector<std::string>& pattern,
                                              const std::vector<std::string>& path)
{
    if (pattern.size() != path.size())
        return std::nullopt;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (pattern[i] == "{}")
            parts.push_back(path[i]);
        else if (pattern[i] != path[i])
            return std::nullopt;
    }
    return parts;
}

int statusOf(Code code)
{
    switch (code) {
    case Code::Usage:
        return 400;
    case Code::NotFound:
        return 404;
    case Code::Auth:
        return 403;
    case Code::Exists:
    case Code::Rewritten:
    case Code::Publishing:
        return 409;
    case Code::NoSpace:
        return 507;
    case Code::Transient:
    case Code::Canceled:
        return 503;
    case Code::Internal:
    case Code::Io:
    case Code::Catalog:
        return 500;
    default: // the request is understood, and the run does not allow it
        return 422;
    }
}

}

void Routes::add(std::string_view method, std::string_view pattern, Scope scope, Handler handler)
{
    m_routes.push_back({ std::string(method), split(pattern), scope, std::move(handler) });
}

void Routes::handle(const HttpRequest& request, Reply reply) const
{
    const std::string_view path = request.path;
    if (!path.starts_with(Prefix))
        return reply(problem(404, Code::NotFound, "there is nothing at this address"));
    const std::vector<std::string> wanted = split(path.substr(Prefix.size()));
    bool otherMethod = false;
    for (const Route& route : m_routes) {
        std::optional<std::vector<std::string>> parts = match(route.pattern, wanted);
        if (!parts)
            continue;
        if (route.method != request.method) {
            otherMethod = true;
            continue;
        }
        if (request.principal.scope < route.scope)
            return reply(problem(403, Code::Auth, "this needs the scope act",
                                 "start the daemon with --allow-acts, or use a token with this scope"));
        return route.handler(Call { request, std::move(*parts), std::move(reply) });
    }
    if (otherMethod)
        return reply(problem(405, Code::Usage, "this address has no such method"));
    reply(problem(404, Code::NotFound, "there is nothing at this address"));
}

HttpResponse jsonAnswer(std::string body, std::string etag)
{
    HttpResponse answer;
    answer.body = std::move(body);
    answer.etag = std::move(etag);
    return answer;
}

HttpResponse errorAnswer(const Error& error)
{
    std::string detail = error.text;
    if (!error.where.empty())
        detail = error.where + ": " + detail;
    if (error.step)
        detail = fmt::format("step {}: {}", *error.step, detail);
    return problem(statusOf(error.code), error.code, detail, error.remedyText());
}

Result<std::int64_t> parseNumber(const std::string& text, std::string_view what, std::int64_t least, std::int64_t most)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return fail(Code::Usage, fmt::format("{} is a number from {} to {}", what, least, most));
    return value;
}

Result<std::optional<std::int64_t>> numberOf(const HttpRequest& request, std::string_view key, std::int64_t least,
                                             std::int64_t most)
{
    const auto found = request.query.find(key);
    if (found == request.query.end())
        return std::nullopt;
    DS_TRY(const std::int64_t value, parseNumber(found->second, key, least, most));
    return std::optional(value);
}

std::string textOf(const HttpRequest& request, std::string_view key)
{
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
}

} // namespace deltascope::server
