#pragma once

#include "http.h"

#include <string>

namespace deltascope::server {

/// How the client wants its answer.
struct Wish {
    std::string acceptEncoding;
    std::string ifNoneMatch;
};

/// Adds entity tag and caching rule, answers 304 where the client has it already, and compresses. Slow for large
/// bodies.
HttpResponse prepared(HttpResponse response, const Wish& wish);

/// The header's value, or an empty one.
std::string_view headerOf(const HttpResponse& response, std::string_view name);

/// Whether a list such as "gzip, zstd;q=0.5" has the coding.
bool accepts(std::string_view acceptEncoding, std::string_view coding);

} // namespace deltascope::server
