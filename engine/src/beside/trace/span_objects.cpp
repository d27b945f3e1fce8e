#include "beside/trace/span_objects.h"

#include "deltascope/base/bytes.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::string_view Suffix = ".jsonl";
constexpr std::string_view SectionFront = R"({"object":)";
constexpr std::size_t LeastDigits = 8;

/// The number in front, which is cut off.
std::optional<std::int64_t> takeNumber(std::string_view& text, std::size_t leastDigits)
{
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<std::int64_t> number = parseNumber(text.substr(0, digits));
    text.remove_prefix(digits);
    return digits >= leastDigits ? number : std::nullopt;
}

bool takeDash(std::string_view& text)
{
    const bool isThere = text.starts_with('-');
    text.remove_prefix(isThere ? 1 : 0);
    return isThere;
}

} // namespace

std::optional<SpanObject> parseSpanObject(std::string_view name)
{
    if (!name.ends_with(Suffix))
        return std::nullopt;
    name.remove_suffix(Suffix.size());
    const std::optional<std::int64_t> first = takeNumber(name, LeastDigits);
    if (!first)
        return std::nullopt;
    if (name.empty())
        return SpanObject { *first, *first, 0 };
    const std::optional<std::int64_t> last = takeDash(name) ? takeNumber(name, LeastDigits) : std::nullopt;
    const std::optional<std::int64_t> newest = takeDash(name) ? takeNumber(name, 1) : std::nullopt;
    if (!last || !newest || !name.empty() || *last < *first || *newest <= 0)
        return std::nullopt;
    return SpanObject { *first, *last, *newest };
}

std::string spanObjectName(const SpanObject& object)
{
    return object.isMerged() ? fmt::format("{:08}-{:08}-{}{}", object.first, object.last, object.newestUs, Suffix)
                             : fmt::format("{:08}{}", object.first, Suffix);
}

std::string sectionLine(std::int64_t number) { return fmt::format("{}{}}}\n", SectionFront, number); }

std::optional<std::int64_t> sectionOf(std::string_view line)
{
    if (!line.starts_with(SectionFront) || !line.ends_with('}'))
        return std::nullopt;
    line.remove_prefix(SectionFront.size());
    line.remove_suffix(1);
    const std::optional<std::int64_t> number = takeNumber(line, 1);
    return line.empty() ? number : std::nullopt;
}

} // namespace deltascope
