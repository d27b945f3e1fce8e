#pragma once

#include "deltascope/engine/http.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope::http {

/// The same in upper and lower case, of ASCII alone.
bool isSameName(std::string_view a, std::string_view b) noexcept;

/// Without blanks and line ends around it.
std::string_view trimmed(std::string_view text) noexcept;

/// Whether name and value can stand in a request without becoming something else.
bool isValid(const Header& header) noexcept;

/// "bytes 0-99/1234" or "bytes 0-99/*"; nothing if it is neither.
std::optional<ContentRange> parseContentRange(std::string_view text) noexcept;

/// How long the server wants to be left alone: `Retry-After` in seconds or as a date (compared with `Date` of the
/// answer, else with `now`), or `RateLimit` (IETF drafts, and RateLimit-Remaining with RateLimit-Reset) where nothing
/// is left. The longest of them; nothing if it does not say.
std::optional<std::chrono::seconds> waitWanted(const Headers& headers, std::chrono::system_clock::time_point now);

} // namespace deltascope::http
