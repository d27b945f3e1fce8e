#pragma once

#include "deltascope/engine/beside.h"
#include "deltascope/engine/lineage.h"

namespace deltascope {

/// What a ref to this version has to hold.
RefTarget targetOf(const Version& version);

/// "; it has good, pin/step-12, …": for an error about a word that the run does not have. Empty: it has none.
std::string knownWordsText(const Annotations& annotations);

/// The version that a target means, whatever epoch it counts as by now. Errors: Rewritten (the step is another version
/// now), Vanished, NotFound. `word`: what the user calls it.
Result<const Version*> versionOf(const Run& run, const RefTarget& target, std::string_view word);

} // namespace deltascope
