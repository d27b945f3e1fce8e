#pragma once

#include "deltascope/engine/lineage.h"

#include <cstddef>
#include <optional>

namespace deltascope {

/// The version of its epoch, in front of it, that a version says it restores. Nothing: it does not say so, or that step
/// is not there.
std::optional<std::size_t> namedAsRestored(const Run& run, std::size_t version);

/// Reports the versions that do not have the state that they say they restore.
void assessRestored(Run& run);

} // namespace deltascope
