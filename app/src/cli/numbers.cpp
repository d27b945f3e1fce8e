#include "numbers.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace deltascope::cli {

Result<std::uint64_t> parseSize(const std::string& text)
{
    static const std::map<std::string, std::uint64_t> Units = {
        { "", 1 },
        { "B", 1 },
        { "KB", 1000 },
        { "MB", 1'000'000 },
        { "GB", 1'000'000'000 },
        { "TB", 1'000'000'000'000 },
        { "KIB", 1ULL << 10 },
        { "MIB", 1ULL << 20 },
        { "GIB", 1ULL << 30 },
        { "TIB", 1ULL << 40 },
    };
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string unit = text.substr(digits);
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
    const std::optional<std::int64_t> number = parseNumber(text.substr(0, digits));
    const auto factor = Units.find(unit);
    const std::optional<std::uint64_t> bytes = number && factor != Units.end()
        ? checkedMul(static_cast<std::uint64_t>(*number), factor->second)
        : std::nullopt;
    if (!bytes || *bytes == 0)
        return fail(Code::Usage, fmt::format("{} is not a size such as 5GB or 512MiB", text));
    return *bytes;
}

Result<std::pair<std::uint32_t, std::uint32_t>> parsePart(const std::string& text)
{
    const std::size_t slash = text.find('/');
    const std::optional<std::int64_t> part = parseNumber(text.substr(0, slash));
    const std::optional<std::int64_t> parts =
        slash == std::string::npos ? std::nullopt : parseNumber(text.substr(slash + 1));
    if (!part || !parts || *parts < 1 || *parts > 100'000 || *part >= *parts)
        return fail(Code::Usage, fmt::format("--shard takes I/N with I from 0 to N-1, not {}", text));
    return std::pair(static_cast<std::uint32_t>(*part), static_cast<std::uint32_t>(*parts));
}

} // namespace deltascope::cli
