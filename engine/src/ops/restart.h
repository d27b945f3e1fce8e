#pragma once

#include "deltascope/engine/operations.h"

#include <functional>
#include <utility>
#include <vector>

namespace deltascope {

/// Objects by key, with what is recorded of them.
using RestartSights = std::vector<std::pair<std::string, Records::Sight>>;

/// Whether the rewritten objects of an epoch are those of a trainer that started again under the same keys: its first
/// version (a complete anchor, or one on the external base) was rewritten, so was everything that was on record and is
/// not older than that version, and its own deltas replay on it. Anything else is a rewrite. `first`, `last`: the
/// versions of the epoch. `isRewritten`: whether an object of the version is not what is on record; all were read and
/// are on record as they are now. Returns what has to be recorded as trusted, empty if this is no restart. Errors:
/// those of records and store.
Result<RestartSights> sightsOfRestart(Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                                      const std::function<bool(std::size_t version)>& isRewritten, TaskContext& task);

} // namespace deltascope
