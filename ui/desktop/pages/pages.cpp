#include "pages/pages.h"

namespace deltascope::desktop {

const std::vector<PageInfo>& pageInfos()
{
    static const std::vector<PageInfo> infos;
    return infos;
}

} // namespace deltascope::desktop
