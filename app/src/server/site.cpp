#include "site.h"

#include "answer.h"
#include "secret.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <array>
#include <span>

namespace deltascope::server {

namespace {

constexpr std::string_view kIndex = "/index.html";

const char* contentType(std::string_view path)
{
    constexpr std::array<std::pair<std::string_view, const char*>, 9> kTypes { {
        { ".html", "text/html; charset=utf-8" },
        { ".js", "text/javascript; charset=utf-8" },
        { ".css", "text/css; charset=utf-8" },
        { ".json", "application/json" },
        { ".svg", "image/svg+xml" },
        { ".png", "image/png" },
        { ".ico", "image/x-icon" },
        { ".woff2", "font/woff2" },
        { ".webmanifest", "application/manifest+json" },
    } };
    for (const auto& [suffix, type] : kTypes) {
        if (path.ends_with(suffix))
            return type;
    }
    return "application/octet-stream";
}

const Asset* findAsset(const std::vector<Asset>& assets, std::string_view path)
{
    const auto found =
        std::find_if(assets.begin(), assets.end(), [path](const Asset& asset) { return asset.path == path; });
    return found == assets.end() ? nullptr : &*found;
}

HttpResponse makeIndex(std::string_view html, const std::string& basePath)
{
    constexpr std::string_view kBase = "<base href=\"/";
    HttpResponse response;
    response.contentType = contentType(kIndex);
    response.body = html;
    if (const std::size_t at = response.body.find(kBase); at != std::string::npos)
        response.body.replace(at, kBase.size(), "<base href=\"" + basePath);
    const SecretDigest digest = digestOf(response.body);
    response.etag = toHex(std::as_bytes(std::span(digest))).substr(0, 16);
    response.headers = { { "Cache-Control", "no-cache" } };
    return response;
}

/// The page's own paths have no dot in their first part; files have.
bool isPage(std::string_view path)
{
    const std::string_view first = path.substr(1, path.find('/', 1) - 1);
    return first != "assets" && first.find('.') == std::string_view::npos;
}

}

Site::Site(const std::vector<Asset>& assets, const std::string& basePath)
    : m_assets(assets)
{
    if (const Asset* index = findAsset(assets, kIndex))
        m_index = makeIndex(index->plain, basePath);
}

std::optional<HttpResponse> Site::find(std::string_view path, std::string_view acceptEncoding) const
{
    if (path == kIndex || isPage(path))
        return m_index;
    const Asset* asset = findAsset(m_assets, path);
    if (!asset)
        return std::nullopt;
    HttpResponse response;
    response.contentType = contentType(path);
    response.etag = asset->etag;
    const bool zipped = accepts(acceptEncoding, "gzip") && asset->gzip.size() < asset->plain.size();
    response.body = zipped ? asset->gzip : asset->plain;
    response.headers = { { "Vary", "Accept-Encoding" } };
    if (zipped)
        response.headers.emplace_back("Content-Encoding", "gzip");
    // Vite puts a hash of the content into the names of these.
    response.headers.emplace_back("Cache-Control",
                                  path.starts_with("/assets/") ? "public, max-age=31536000, immutable" : "no-cache");
    return response;
}

} // namespace deltascope::server
