#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <string_view>

namespace deltascope {

/// The bytes that a text with %XX stands for. Errors: Usage ('%' without two hexadecimal digits behind it, or NUL).
Result<std::string> percentDecode(std::string_view text);

/// The text with each byte outside of A-Z a-z 0-9 - . _ ~ and `alsoPlain` as %XX (RFC 3986, 2.1 and 2.3).
std::string percentEncode(std::string_view text, std::string_view alsoPlain = {});

} // namespace deltascope
