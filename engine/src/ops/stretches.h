#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace deltascope {

// What a run is replayed in.

/// A complete state and everything that can be replayed on it, up to and including the next complete anchor or full
/// form.
struct Stretch {
    Plan plan;
    /// Whether it begins with an anchor that no other stretch leads to: nothing else tells what values that holds.
    bool beginsAnew = false;
    bool fromAnchor() const { return !plan.fromExternalBase; }
    /// The links that replaying it tells something about: of the first full one its values, where it begins anew, and
    /// whether it is what it records.
    std::vector<PlanLink> judged(const Run& run) const;
};

/// From front to back. Empty where versions stand alone. `until`: AnalyzeOptions::until.
std::vector<Stretch> stretchesOf(const Run& run, std::optional<std::size_t> until);

/// Which of them are replayed for what is wanted.
std::vector<bool> wantedStretches(const Run& run, const std::vector<Stretch>& stretches, const AnalyzeOptions& options);

/// Whether the version's own objects can be replayed, as far as is known.
bool isUsable(const Version& version);

/// Whether what was replayed of its own objects does not fit what its publisher recorded.
bool failsItsRecord(const VersionFacts& facts);

/// Whether another form has to be used because replaying its own objects showed that they are wrong.
bool isReplaced(const Version& version);

/// Whether a version records something that the state behind it can be compared with.
bool recordsItsState(const VersionSummary& summary);

} // namespace deltascope
