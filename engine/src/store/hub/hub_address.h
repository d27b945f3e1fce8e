#pragma once

#include "deltascope/engine/hub_store.h"

#include <string>
#include <string_view>

namespace deltascope::hub {

enum class Slashes : std::uint8_t { Stay, AreEncoded };

/// Every byte outside A-Z a-z 0-9 - . _ ~ as %XX.
std::string percentEncoded(std::string_view text, Slashes slashes);
/// Errors: Usage, where a % is not followed by two hexadecimal digits.
Result<std::string> percentDecoded(std::string_view text);

/// A user, an organization, a bucket or a model: letters, digits, '-', '_', '.', at most 96 of them; neither "." nor
/// "..".
bool isHubName(std::string_view text) noexcept;

/// Without slashes at its end. Errors: Usage (no http or https, or with a user, a query or a fragment).
Result<std::string> checkedEndpoint(std::string text);

} // namespace deltascope::hub
