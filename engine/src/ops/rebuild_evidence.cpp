#include "rebuild_evidence.h"

#include "lineage/claims.h"

#include <algorithm>

namespace deltascope {

std::vector<Error> noticesOf(const Run& run, const Plan& plan)
{
    std::vector<Error> notices = doubtsOfChoice(run);
    for (const PlanLink& link : plan.links) {
        for (const Error& problem : run.versions[link.version].problems) {
            if (std::find(notices.begin(), notices.end(), problem) == notices.end())
                notices.push_back(problem);
        }
    }
    return notices;
}

bool isVouchedFor(const Run& run, const Version& version, const Plan& plan, const Coverage& coverage)
{
    if (plan.lossy || version.suspect || version.driftAlarm || version.formsDiffer || run.recordsLost)
        return false;
    for (const PlanLink& link : plan.links) {
        const std::vector<Error>& problems = run.versions[link.version].problems;
        if (std::any_of(problems.begin(), problems.end(),
                        [](const Error& problem) { return forbidsTrust(problem.code); }))
            return false;
    }
    const auto at = static_cast<std::size_t>(&version - run.versions.data());
    return !isUnvouchedEmpty(run, at) && (coverage.isVerified() || coverage.isConsistent());
}

} // namespace deltascope
