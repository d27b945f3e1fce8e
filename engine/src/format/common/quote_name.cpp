#include "format/common/quote_name.h"

#include <cstdint>
#include <fmt/format.h>
#include <iterator>

namespace deltascope {
namespace {

constexpr std::size_t LongestShown = 128;

struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 0; ///< 0: not UTF-8
};

CodePoint firstOf(std::string_view text) noexcept
{
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80)
        return { lead, 1 };
    const std::size_t bytes = lead >= 0xF8 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (bytes == 0 || text.size() < bytes)
        return {};
    std::uint32_t value = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80)
            return {};
        value = value << 6 | (next & 0x3FU);
    }
    constexpr std::uint32_t Smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < Smallest[bytes] || value > 0x10FFFF || surrogate)
        return {};
    return { value, bytes };
}

bool isControl(std::uint32_t c) noexcept
{
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F
        || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

} // namespace

std::string quoteName(std::string_view text)
{
    std::string out = "\"";
    std::size_t at = 0;
    while (at < text.size() && at < LongestShown) {
        const CodePoint point = firstOf(text.substr(at));
        if (point.bytes == 0)
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[at]));
        else if (isControl(point.value))
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", point.value);
        else
            out.append(point.value == '"' || point.value == '\\' ? "\\" : "").append(text.substr(at, point.bytes));
        at += point.bytes == 0 ? 1 : point.bytes;
    }
    return out.append(at < text.size() ? "...\"" : "\"");
}

bool isUtf8(std::string_view text) noexcept
{
    while (!text.empty()) {
        const std::size_t bytes = firstOf(text).bytes;
        if (bytes == 0)
            return false;
        text.remove_prefix(bytes);
    }
    return true;
}

} // namespace deltascope
