#pragma once

#include "deltascope/engine/plan.h"

#include <vector>

namespace deltascope {

/// Whether an error says that nothing can be learned of an object as it stands there: also one that was replaced since
/// it was listed. What can be learned of others stands.
inline bool endsLearning(Code code) noexcept { return speaksOfAnObject(code) || code == Code::Rewritten; }

/// Whether an error says that the object of a link is damaged: its bytes, or those of a mirror, which are unlike what
/// is on record of the source's. `link`: linkOf().
inline bool isDamageOf(const Run& run, const std::vector<PlanLink>& links, std::size_t link, const Error& error)
{
    if (link == links.size())
        return false;
    const bool ofMirror = !run.versions[links[link].version].objectsOf(links[link].form).mirror.empty();
    return speaksOfAnObject(error.code) || (ofMirror && error.code == Code::Rewritten);
}

} // namespace deltascope
