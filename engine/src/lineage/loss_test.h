#pragma once

#include "deltascope/engine/lineage.h"

#include <cstdint>

namespace deltascope {

// Whether no-ops say that a delta is lost (docs/formats/dsm1.md, section 6). The writer's own share of no-ops is not
// known, so the counts of a suspect delta are compared with those of other deltas, the habit: if both come from one
// share, the suspect's part of all no-ops has the hypergeometric distribution, whatever that share is.

/// A sound delta is taken for one behind a loss at most once in a million.
inline constexpr double LossProbability = 1e-6;
/// The habit explains a delta if sound ones have as many no-ops at least once in a thousand.
inline constexpr double HabitProbability = 1e-3;
/// Fewer assignments than these are no habit.
inline constexpr std::uint64_t LeastHabit = 100;
/// The largest share of no-ops that a sound writer is believed to have where no habit is known; 1.3 % was measured.
inline constexpr double LargestShare = 0.02;

/// The probability of at least `suspect.noops` no-ops in the suspect if both counts have one share. Exact where it
/// takes up to 2,000 terms (1e-12 relative), beyond them at most 10 % too large where it is below 1e-3, and never too
/// small; 1 where the suspect has no more than its part. Bounded time; counts up to 2^53.
double probabilityOfNoops(NoopCounts suspect, NoopCounts habit) noexcept;
/// The same if the suspect's no-ops have this share of its assignments. 0 < share < 1.
double probabilityOfNoops(NoopCounts suspect, double share) noexcept;

enum class NoopVerdict : std::uint8_t {
    Habit, ///< nothing speaks for a loss
    Unexplained, ///< more than the habit explains, or no habit is known; too few to prove anything
    Loss, ///< the delta was not written against the state before it
};
NoopVerdict judgeNoops(NoopCounts suspect, NoopCounts habit) noexcept;

} // namespace deltascope
