#pragma once

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

/// For the result word of verify.
Exit exitForVerdict(std::string_view result) noexcept;

} // namespace deltascope::cli
