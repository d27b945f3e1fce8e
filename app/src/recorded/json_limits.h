#pragma once

#include <cstddef>
#include <string_view>

namespace deltascope::app {

/// How much memory a document of a bundle may take when it is parsed: a file of some kilobytes unpacks to millions of
/// values.
inline constexpr std::size_t MostJsonDepth = 64;
inline constexpr std::size_t MostJsonValues = 4'000'000;

/// Whether a JSON text keeps these limits. Takes no memory for its values. A text that is no JSON does not.
bool keepsJsonLimits(std::string_view text);

} // namespace deltascope::app
