#pragma once

#include "deltascope/engine/lineage.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Finds anchors that are further from the replayed state before them than deltas of the run explain, says so at them
/// and at the deltas that lead to them, and counts what writers that compare low bytes have missed. Once every version
/// was assessed.
void assessDrift(Run& run);

/// The limit that the changed elements of deltas set, at most the last ten; nothing with fewer than two.
std::optional<std::uint64_t> driftLimit(std::vector<std::uint64_t> changed);

/// " (3 of them in the sign of zero alone)" of the elements in which two states differ; empty for 0.
std::string signsAmong(std::uint64_t zeroSigns);

} // namespace deltascope
