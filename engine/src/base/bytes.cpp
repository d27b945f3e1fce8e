#include "deltascope/base/bytes.h"

#include <charconv>
#include <system_error>

namespace deltascope {

std::string toHex(ByteSpan bytes)
{
    constexpr std::string_view Digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::byte byte : bytes) {
        text += Digits[std::to_integer<unsigned>(byte) >> 4];
        text += Digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

std::optional<std::int64_t> parseNumber(std::string_view digits) noexcept
{
    if (digits.empty() || digits.front() < '0' || digits.front() > '9')
        return std::nullopt;
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return value;
}

} // namespace deltascope
