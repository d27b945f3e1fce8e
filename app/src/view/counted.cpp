#include "deltascope/app/view/counted.h"

#include <fmt/format.h>

namespace deltascope::app {

std::string countText(std::uint64_t count)
{
    std::string digits = std::to_string(count);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, ",");
    return digits;
}

std::string counted(std::uint64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", countText(count), noun, count == 1 ? "" : "s");
}

} // namespace deltascope::app
