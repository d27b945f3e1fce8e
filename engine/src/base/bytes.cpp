#include "deltascope/base/bytes.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
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

std::string bytesText(std::uint64_t bytes)
{
    if (bytes < 1000)
        return fmt::format("{} B", bytes);
    constexpr std::array<const char*, 6> Units = { "kB", "MB", "GB", "TB", "PB", "EB" };
    double value = static_cast<double>(bytes) / 1000.0;
    std::size_t unit = 0;
    while (value >= 999.95 && unit + 1 < Units.size()) {
        value /= 1000.0;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, Units[unit]);
}

} // namespace deltascope
