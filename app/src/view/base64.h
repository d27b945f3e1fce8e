#pragma once

#include <string>
#include <string_view>

namespace deltascope::app {

/// Bytes as text that may stand in JSON.
std::string base64(std::string_view bytes);

} // namespace deltascope::app
