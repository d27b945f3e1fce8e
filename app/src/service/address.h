#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/lineage.h"

namespace deltascope::app {

/// The version that a request means. `selector`: what stands behind the @; empty: the newest.
/// Errors: NotFound (with the nearest steps), ChainGap (the number is a gap), Usage (not a selector).
Result<const Version*> resolveVersion(const Run& run, const std::string& selector);

/// Which step a selector means, as a sentence; empty unless it names the newest one and a version with a higher number
/// exists: one of an earlier run, or one that cannot be rebuilt.
std::string choiceText(const Run& run, const Version& chosen, const std::string& selector);

/// First and last index in Run::versions that "12", "0:12" or "3..9" means; nothing for an empty text.
Result<std::optional<std::pair<std::size_t, std::size_t>>> resolveRange(const Run& run, const std::string& range);

} // namespace deltascope::app
