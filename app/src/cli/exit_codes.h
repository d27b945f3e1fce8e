#pragma once

#include "deltascope/app/view/operation_view.h"

#include <string_view>

namespace deltascope::cli {

/// Exit statuses of the program; stable, part of the CLI contract (docs/cli.md).
enum Exit : int {
    Success = 0,
    Failure = 1, ///< other failure, or "different" with --exit-code
    UsageError = 2,
    NotFound = 3,
    NotAuthorized = 4,
    Temporary = 5,
    VerificationFailed = 6,
    ChainBroken = 7,
    Conflict = 8,
    NoSpace = 9,
    Stopped = 10, ///< can be resumed
    InterruptedTwice = 130,
};

/// For the word of an error ("DS-CHAIN-GAP").
Exit exitFor(std::string_view word) noexcept;

/// For a verification. A rewritten object is a mismatch whatever else the result says; with `strict`, so is any problem
/// that is more than a notice.
Exit exitForVerdict(const app::VerifyView& report, bool strict = false);
/// The one that says more against what was verified.
Exit worseOf(Exit a, Exit b) noexcept;

} // namespace deltascope::cli
