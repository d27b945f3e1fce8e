#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// A file that is part of the program.
struct Asset {
    std::string_view path; ///< "/assets/index-BxT2.js"
    std::string_view etag;
    std::string_view plain;
    std::string_view gzip; ///< the same, compressed
};

/// Made at build time (app/cmake/embed_assets.cmake).
const std::vector<Asset>& embeddedAssets();

/// The page that shows a bundle, one file (ui/web/src/bundle). Made at build time too.
std::string_view bundlePage();

} // namespace deltascope::server
