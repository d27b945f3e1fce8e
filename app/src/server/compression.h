#pragma once

#include <string>
#include <string_view>

namespace deltascope::server {

/// For answers on their way: quick rather than small.
std::string gzipOf(std::string_view plain);
std::string zstdOf(std::string_view plain);

} // namespace deltascope::server
