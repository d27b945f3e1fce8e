#include "acts/act.h"
#include "acts/annotate/annotate_acts.h"
#include "acts/branch/branch_act.h"
#include "acts/diff/diff_act.h"
#include "acts/discard/discard_act.h"
#include "acts/materialize/materialize_act.h"
#include "acts/publish/publish_act.h"
#include "acts/roll_back/roll_back_acts.h"
#include "acts/verify/verify_act.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

const std::vector<Act>& acts()
{
    static const std::vector<Act> all {
        materializeAct(), verifyAct(), diffAct(), publishAct(), rollBackAct(), undoAct(),    branchAct(),
        refAct(),         unrefAct(),  pinAct(),  unpinAct(),   noteAct(),     discardAct(),
    };
    return all;
}

Result<const Act*> findAct(std::string_view kind)
{
    const auto found =
        std::find_if(acts().begin(), acts().end(), [&](const Act& act) { return act.info.kind == kind; });
    if (found != acts().end())
        return &*found;
    std::string kinds;
    for (const Act& act : acts())
        kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", act.info.kind);
    return fail(Code::Usage, "there is no such kind of act", std::string(kind), "these are there: " + kinds);
}

std::vector<ActInfo> actInfos()
{
    std::vector<ActInfo> infos;
    for (const Act& act : acts())
        infos.push_back(act.info);
    return infos;
}

} // namespace deltascope::app
