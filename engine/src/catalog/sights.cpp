#include "sights.h"

#include <algorithm>

namespace deltascope {

namespace {

template <class Is> const Records::Sight* newest(const std::vector<Records::Sight>& sights, Is is) noexcept
{
    const auto found = std::find_if(sights.rbegin(), sights.rend(), is);
    return found == sights.rend() ? nullptr : &*found;
}

}

const Records::Sight* trustedSight(const std::vector<Records::Sight>& sights) noexcept
{
    return newest(sights, [](const Records::Sight& sight) { return sight.trusted; });
}

const Records::Sight* sightUnder(const std::vector<Records::Sight>& sights, std::string_view identity) noexcept
{
    const auto isUnder = [identity](const Records::Sight& sight) { return sight.identity == identity; };
    const Records::Sight* withDigest =
        newest(sights, [&](const Records::Sight& sight) { return isUnder(sight) && sight.hasDigest(); });
    return withDigest ? withDigest : newest(sights, isUnder);
}

} // namespace deltascope
