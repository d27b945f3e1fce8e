#include "base/percent_code.h"

#include <optional>

namespace deltascope {

namespace {

std::optional<unsigned> hexDigit(char digit) noexcept
{
    if (digit >= '0' && digit <= '9')
        return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f')
        return static_cast<unsigned>(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F')
        return static_cast<unsigned>(digit - 'A' + 10);
    return std::nullopt;
}

}

Result<std::string> percentDecode(std::string_view text)
{
    if (text.find('\0') != std::string_view::npos)
        return fail(Code::Usage, "the address holds a NUL byte");
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        const auto high = at + 2 < text.size() ? hexDigit(text[at + 1]) : std::nullopt;
        const auto low = at + 2 < text.size() ? hexDigit(text[at + 2]) : std::nullopt;
        if (!high || !low || (*high == 0 && *low == 0))
            return fail(Code::Usage, "\"%\" in the address is not followed by two hexadecimal digits of a character");
        out += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return out;
}

std::string percentEncode(std::string_view text, std::string_view alsoPlain)
{
    constexpr std::string_view Plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr std::string_view Digits = "0123456789ABCDEF";
    std::string out;
    for (const char letter : text) {
        if (Plain.find(letter) != std::string_view::npos || alsoPlain.find(letter) != std::string_view::npos) {
            out += letter;
            continue;
        }
        const auto byte = static_cast<unsigned char>(letter);
        out += '%';
        out += Digits[byte >> 4U];
        out += Digits[byte & 15U];
    }
    return out;
}

} // namespace deltascope
