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

/// Percent-encoding as Signature Version 4 wants it: all but letters, digits and "-._~", and '/' where it is kept.
std::string uriEncode(std::string_view text, bool keepsSlash);
/// The other way; nothing where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> uriDecode(std::string_view text);

bool equalsIgnoringCase(std::string_view a, std::string_view b) noexcept;
std::string lowerCased(std::string_view text);
/// Without blanks, tabs and line ends around it.
std::string_view trimBlanks(std::string_view text) noexcept;

} // namespace deltascope::s3
