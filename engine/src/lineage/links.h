#pragma once

#include "deltascope/engine/lineage.h"

#include <cstddef>
#include <optional>

namespace deltascope {

/// Finds what version `at` builds on: by the root of its state where it names one, by the number that it declares, else
/// the version before it. `previous`: that one; nothing at the beginning of an epoch.
void link(Run& run, std::size_t at, std::optional<std::size_t> previous);

/// Finds what the other forms of a version build on, in the same way.
void linkOtherForms(Run& run, std::size_t at);

} // namespace deltascope
