#pragma once

#include "assets.h"
#include "http.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// The files of the web page. Paths are looked up among exact names only.
class Site {
public:
    /// `basePath` begins and ends with a slash; the page finds everything relative to it.
    Site(const std::vector<Asset>& assets, const std::string& basePath);

    /// The file with this path below the base path, or index.html for a path of the page's own ("/r/wordle/heat").
    std::optional<HttpResponse> find(std::string_view path, std::string_view acceptEncoding) const;

private:
    const std::vector<Asset>& m_assets;
    HttpResponse m_index;
};

} // namespace deltascope::server
