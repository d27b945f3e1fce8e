#include "deltascope/app/view/operation_view.h"

#include <fmt/format.h>

namespace deltascope::app {

std::string storeDigestsText(const StoreDigestsView& digests)
{
    const std::uint64_t objects = digests.equal + digests.uncompared + digests.none;
    if (objects == 0)
        return "no object was read whole";
    const auto counted = [](std::uint64_t count, const char* singular, const char* plural) {
        return fmt::format("{} {}", count, count == 1 ? singular : plural);
    };
    std::string text = fmt::format("{} of {} read whole {} the digest that the store keeps", digests.equal,
                                   counted(objects, "object", "objects"), digests.equal == 1 ? "has" : "have");
    if (digests.uncompared > 0)
        text += "; " + counted(digests.uncompared, "was", "were") + " not compared with it as a whole";
    if (digests.none > 0)
        text += fmt::format("; of {} the store keeps none", digests.none);
    return text;
}

} // namespace deltascope::app
