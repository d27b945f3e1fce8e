#pragma once

namespace deltascope {

/// Of ASCII alone, whatever the locale says.
constexpr bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Of an identifier: a letter, a digit or an underscore.
constexpr bool isWordCharacter(char c) noexcept
{
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

} // namespace deltascope
