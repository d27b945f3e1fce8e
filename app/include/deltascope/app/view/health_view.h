#pragma once

#include "deltascope/app/view/verified_view.h"

#include <cstdint>
#include <optional>
#include <string>

namespace deltascope::app {

/// What can be relied on in the newest epoch of a run, in words that need no explanation. They are made here alone;
/// faces show them as they are.
struct HealthView {
    /// broken: steps cannot be used; doubtful: they can, and may be wrong, or something that was here is gone;
    /// unchecked; sound; empty: nothing is published; no_contact: the source cannot be looked at, and nothing was wrong
    /// at the last look.
    std::string state;
    std::string headline; ///< one sentence: the damage, else the doubt, else what is proven to which step
    std::string proven; ///< "Bytes as first read, which may be just now, to step 5": all from the first usable step on
    std::string restorable; ///< "Can be restored: steps 1 to 5, and from 10 on"
    std::string remedy; ///< empty: nothing is to be done
    std::optional<std::int64_t> step; ///< that the damage or the doubt starts at; it is there, unlike a lost one
    std::optional<std::int64_t> restore; ///< the newest that can be restored
    std::optional<ProblemView> problem; ///< with the words of developers, for details

    bool operator==(const HealthView&) const = default;
};

/// `verified` may be empty: then nothing is known to be checked. `oldVerdicts`: as in RunSnapshot.
HealthView makeHealth(const RunView& run, const VerifiedSteps& verified, bool oldVerdicts = false);
/// What of it holds where the source cannot be looked at any more: it is sound no longer, and not damaged by that.
/// `sinceUs`: when it was last looked at; 0: not known.
HealthView withoutContact(HealthView health, const ProblemView& why, std::int64_t sinceUs);
/// All of it as one paragraph, without the details.
std::string healthText(const HealthView& health);

} // namespace deltascope::app
