#pragma once

#include <string>
#include <string_view>

namespace deltascope {

/// Foreign text in quotation marks, fit for one line of an error: control characters, bidirectional controls and bytes
/// that are not UTF-8 are escaped, long text is cut.
std::string quoteName(std::string_view text);

/// Whether all of it is UTF-8, shortest forms only and without surrogates.
bool isUtf8(std::string_view text) noexcept;

} // namespace deltascope
