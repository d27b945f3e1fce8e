#include "encoding.h"

#include "deltascope/base/ascii.h"

#include <algorithm>

namespace deltascope::s3 {

namespace {

constexpr std::string_view Base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char lowerLetter(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

} // namespace

std::string base64Of(ByteSpan bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        unsigned group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = (group << 8) | (i < count ? static_cast<unsigned>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= count ? Base64Letters[(group >> (18 - 6 * i)) & 0x3f] : '=';
    }
    return text;
}

std::optional<std::vector<std::byte>> parseBase64(std::string_view text)
{
    std::vector<std::byte> bytes;
    unsigned group = 0;
    unsigned bits = 0;
    for (const char letter : text.substr(0, std::min(text.find('='), text.size()))) {
        const std::size_t value = Base64Letters.find(letter);
        if (value == std::string_view::npos)
            return std::nullopt;
        group = ((group << 6) | static_cast<unsigned>(value)) & 0xffffU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<std::byte>((group >> bits) & 0xffU));
        }
    }
    if (base64Of(bytes) != text)
        return std::nullopt;
    return bytes;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) noexcept
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lowerLetter(x) == lowerLetter(y); });
}

std::string lowerCased(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), lowerLetter);
    return lower;
}

std::string_view trimBlanks(std::string_view text) noexcept
{
    constexpr const char* Blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(Blanks);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(Blanks) - begin + 1);
}

} // namespace deltascope::s3
