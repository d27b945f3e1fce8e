#include "header_text.h"

#include <algorithm>

namespace deltascope::http {

namespace {

char lowerCase(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool isNameCharacter(char c) noexcept
{
    return c > ' ' && c < '\x7f' && std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
}

}

bool isSameName(std::string_view a, std::string_view b) noexcept
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lowerCase(x) == lowerCase(y); });
}

std::string_view trimmed(std::string_view text) noexcept
{
    constexpr const char* Blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(Blanks);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(Blanks) - begin + 1);
}

bool isValid(const Header& header) noexcept
{
    return !header.name.empty() && std::all_of(header.name.begin(), header.name.end(), isNameCharacter)
        && header.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

std::optional<std::string_view> Headers::find(std::string_view name) const noexcept
{
    const auto found =
        std::find_if(m_lines.begin(), m_lines.end(), [&](const Header& line) { return isSameName(line.name, name); });
    return found == m_lines.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

std::optional<ContentRange> parseContentRange(std::string_view text) noexcept
{
    constexpr std::string_view Unit = "bytes ";
    if (text.size() < Unit.size() || !isSameName(text.substr(0, Unit.size()), Unit))
        return std::nullopt;
    text.remove_prefix(Unit.size());
    const std::size_t dash = std::min(text.find('-'), text.size());
    const std::size_t slash = std::min(text.find('/', dash), text.size());
    if (dash == text.size() || slash == text.size())
        return std::nullopt;
    const auto first = parseNumber(text.substr(0, dash));
    const auto last = parseNumber(text.substr(dash + 1, slash - dash - 1));
    const auto total = parseNumber(text.substr(slash + 1));
    if (!first || !last || *last < *first || (!total && text.substr(slash + 1) != "*") || (total && *total <= *last))
        return std::nullopt;
    ContentRange range { { static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last - *first) + 1 }, {} };
    if (total)
        range.totalBytes = static_cast<std::uint64_t>(*total);
    return range;
}

} // namespace deltascope::http
