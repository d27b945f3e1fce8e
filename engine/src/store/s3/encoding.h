#pragma once

#include "deltascope/base/bytes.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::s3 {

/// With padding.
std::string base64Of(ByteSpan bytes);
/// Nothing where it is not exactly what base64Of writes.
std::optional<std::vector<std::byte>> parseBase64(std::string_view text);

bool equalsIgnoringCase(std::string_view a, std::string_view b) noexcept;
std::string lowerCased(std::string_view text);
/// Without blanks, tabs and line ends around it.
std::string_view trimBlanks(std::string_view text) noexcept;

} // namespace deltascope::s3
