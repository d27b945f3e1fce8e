#include "format/common/counted_name.h"

#include "deltascope/base/bytes.h"

namespace deltascope {

std::optional<CountedName> countedName(std::string_view name) noexcept
{
    const std::string_view word = name.substr(0, name.find_first_of("0123456789"));
    const std::optional<std::int64_t> number = parseNumber(name.substr(word.size()));
    return number ? std::optional(CountedName { word, *number }) : std::nullopt;
}

} // namespace deltascope
