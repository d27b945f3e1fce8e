#include "answer.h"

#include "compression.h"

#include <algorithm>

namespace deltascope::server {

namespace {

constexpr std::size_t kWorthCompressing = 1'024;

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Calls `take` with each element of a comma-separated list until it returns true.
template <class Take> bool anyOf(std::string_view list, Take take)
{
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (take(trimmed(list.substr(0, end))))
            return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

bool matches(std::string_view ifNoneMatch, const std::string& etag)
{
    return anyOf(ifNoneMatch, [&](std::string_view tag) {
        if (tag.starts_with("W/"))
            tag.remove_prefix(2);
        return tag == "*" || tag == '"' + etag + '"';
    });
}

bool isCompressed(const HttpResponse& response)
{
    const std::string& type = response.contentType;
    return type.starts_with("font/") || (type.starts_with("image/") && type != "image/svg+xml")
        || !headerOf(response, "Content-Encoding").empty();
}

void compress(HttpResponse& response, std::string_view acceptEncoding)
{
    if (response.body.size() < kWorthCompressing || isCompressed(response))
        return;
    response.headers.emplace_back("Vary", "Accept-Encoding");
    if (accepts(acceptEncoding, "zstd")) {
        response.body = zstdOf(response.body);
        response.headers.emplace_back("Content-Encoding", "zstd");
    } else if (accepts(acceptEncoding, "gzip")) {
        response.body = gzipOf(response.body);
        response.headers.emplace_back("Content-Encoding", "gzip");
    }
}

}

std::string_view headerOf(const HttpResponse& response, std::string_view name)
{
    const auto found = std::find_if(response.headers.begin(), response.headers.end(),
                                    [name](const auto& header) { return header.first == name; });
    return found == response.headers.end() ? std::string_view() : std::string_view(found->second);
}

bool accepts(std::string_view acceptEncoding, std::string_view coding)
{
    return anyOf(acceptEncoding, [coding](std::string_view element) {
        const std::size_t semicolon = std::min(element.find(';'), element.size());
        const std::string_view quality = trimmed(element.substr(std::min(semicolon + 1, element.size())));
        const bool refused = quality.starts_with("q=0") && quality.find_first_not_of("0.", 2) == std::string_view::npos;
        return trimmed(element.substr(0, semicolon)) == coding && !refused;
    });
}

HttpResponse prepared(HttpResponse response, const Wish& wish)
{
    if (headerOf(response, "Cache-Control").empty())
        response.headers.emplace_back("Cache-Control", response.etag.empty() ? "no-store" : "private, no-cache");
    if (!response.etag.empty()) {
        // Weak: the same tag stands for all encodings.
        response.headers.emplace_back("ETag", "W/\"" + response.etag + '"');
        if (response.status == 200 && matches(wish.ifNoneMatch, response.etag)) {
            response.status = 304;
            response.body.clear();
            return response;
        }
    }
    compress(response, wish.acceptEncoding);
    return response;
}

} // namespace deltascope::server
