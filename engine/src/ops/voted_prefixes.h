#pragma once

#include "deltascope/engine/operations.h"

#include <optional>
#include <vector>

namespace deltascope {

/// The prefixes that most names of one side differ by from names of the other one that end alike: "model." and
/// "model.language_model.", also where A has a tower of its own. Nothing: no pair of prefixes is clearly ahead.
std::optional<PrefixMap> votedPrefixes(std::vector<const TensorInfo*> a, const std::vector<const TensorInfo*>& b);

} // namespace deltascope
