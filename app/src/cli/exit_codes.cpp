#include "exit_codes.h"

#include "deltascope/base/code.h"

#include <algorithm>
#include <functional>

namespace deltascope::cli {

Exit exitFor(std::string_view word) noexcept
{
    switch (parseCode(word).value_or(Code::Internal)) {
    case Code::Usage:
        return UsageError;
    case Code::NotFound:
    case Code::Layout:
        return NotFound;
    case Code::Auth:
        return NotAuthorized;
    case Code::Transient:
    case Code::Refetched:
    case Code::ListSuspect:
        return Temporary;
    case Code::Truncated:
    case Code::Malformed:
    case Code::Hostile:
    case Code::Digest:
    case Code::Noop:
    case Code::AnchorDrift:
    case Code::SuspectValues:
    case Code::Missed:
    case Code::DuplicateName:
    case Code::Rewritten:
    case Code::Claim:
    case Code::MissingTensor:
    case Code::FormsDiffer:
    case Code::Unlisted:
    case Code::Infinite:
    case Code::TwoModels:
    case Code::Stray:
    case Code::Mirror:
    case Code::Reverted:
    case Code::Repeated:
        return VerificationFailed;
    case Code::ChainGap:
    case Code::BaseMissing:
    case Code::BaseMismatch:
    case Code::PartialAnchor:
    case Code::Unfinished:
    case Code::Publishing:
    case Code::Unproven:
    case Code::Lossy:
    case Code::Vanished:
    case Code::Retired:
        return ChainBroken;
    case Code::Exists:
    case Code::Fork:
        return Conflict;
    case Code::NoSpace:
        return NoSpace;
    case Code::Canceled:
        return Stopped;
    case Code::Io:
    case Code::Unsupported:
    case Code::Catalog:
    case Code::Internal:
        break;
    }
    return Failure;
}

namespace {

bool hasProblem(const std::vector<app::ProblemView>& problems, Code code)
{
    return std::any_of(problems.begin(), problems.end(),
                       [code](const app::ProblemView& problem) { return problem.code == word(code); });
}

template <class Wanted> bool anyProblem(const app::VerifyView& report, Wanted isWanted)
{
    return std::any_of(report.problems.begin(), report.problems.end(), isWanted)
        || std::any_of(report.steps.begin(), report.steps.end(), [&](const app::StepVerdictView& step) {
               return std::any_of(step.problems.begin(), step.problems.end(), isWanted);
           });
}

}

Exit exitForVerdict(const app::VerifyView& report, bool strict)
{
    const auto has = [&](Code code) {
        return anyProblem(report, [code](const app::ProblemView& problem) { return problem.code == word(code); });
    };
    if (report.result == "damaged" || has(Code::Rewritten) || has(Code::FormsDiffer))
        return VerificationFailed;
    if (report.result == "incomplete")
        return ChainBroken;
    const bool moved =
        report.level >= 2
        && std::any_of(report.steps.begin(), report.steps.end(), [](const app::StepVerdictView& step) {
               return step.result == "unverified"
                   && (hasProblem(step.problems, Code::AnchorDrift) || hasProblem(step.problems, Code::SuspectValues));
           });
    if (moved || (strict && anyProblem(report, std::not_fn(app::isNotice))))
        return VerificationFailed;
    return has(Code::Catalog) ? exitFor(word(Code::Catalog)) : Success;
}

Exit worseOf(Exit a, Exit b) noexcept
{
    for (const Exit worst : { VerificationFailed, ChainBroken }) {
        if (a == worst || b == worst)
            return worst;
    }
    return std::max(a, b);
}

} // namespace deltascope::cli
