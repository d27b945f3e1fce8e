#include "exit_codes.h"

#include "deltascope/base/code.h"

#include <algorithm>

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
    case Code::ListSuspect:
        return Temporary;
    case Code::Truncated:
    case Code::Hostile:
    case Code::Digest:
    case Code::Noop:
    case Code::AnchorDrift:
    case Code::DuplicateName:
    case Code::Rewritten:
    case Code::Claim:
        return VerificationFailed;
    case Code::ChainGap:
    case Code::BaseMissing:
    case Code::BaseMismatch:
    case Code::PartialAnchor:
    case Code::Unfinished:
    case Code::Publishing:
    case Code::Unproven:
    case Code::Lossy:
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

Exit exitForVerdict(const app::VerifyView& report)
{
    if (report.result == "damaged")
        return VerificationFailed;
    if (report.result == "incomplete")
        return ChainBroken;
    const bool rewritten = std::any_of(report.steps.begin(), report.steps.end(), [](const app::StepVerdictView& step) {
        return std::any_of(step.problems.begin(), step.problems.end(),
                           [](const app::ProblemView& problem) { return parseCode(problem.code) == Code::Rewritten; });
    });
    return rewritten ? VerificationFailed : Success;
}

} // namespace deltascope::cli
