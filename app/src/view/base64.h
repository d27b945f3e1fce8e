#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// Bytes as text that may stand in JSON.
std::string base64(std::string_view bytes);
/// The bytes that base64() made a text of; nothing if it made no such text.
std::optional<std::vector<std::uint8_t>> fromBase64(std::string_view text);

} // namespace deltascope::app
