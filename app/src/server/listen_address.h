#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace deltascope::server {

/// "127.0.0.1:7717", "[::1]:0" or "localhost:7717", taken apart.
struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;
};

Result<ListenAddress> parseListenAddress(std::string_view text);

} // namespace deltascope::server
