#pragma once

#include "deltascope/engine/operations.h"

#include <utility>
#include <vector>

namespace deltascope {

/// Objects by key, with what is recorded of them.
using RestartSights = std::vector<std::pair<std::string, Records::Sight>>;

/// Whether an epoch is that of a trainer that started again under the same keys. It is known by its deltas: each that
/// is on record has other bytes now, and together they replay on the first version, which may be as it was. Anything
/// else is a rewrite. `first`, `last`: the versions of the epoch; their objects were read and are on record as they are
/// now. `beganUs`: when that reading began; what was recorded since, or since bytes of the new run were first seen, is
/// no record of the earlier one. Returns what has to be recorded as trusted, empty if this is no restart. Errors: those
/// of records and store.
Result<RestartSights> sightsOfRestart(Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                                      std::int64_t beganUs, TaskContext& task);

} // namespace deltascope
