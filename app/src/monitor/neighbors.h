#pragma once

#include <optional>
#include <string>

namespace deltascope::app {

/// The source of checkpoints that lie beside `destination`, where none there is of `source` (canonical address), as
/// their provenance tells: the steps of two models would lie in one folder. Nothing: there are none, or they tell
/// nothing. Looks at 1,000 neighbors at most.
std::optional<std::string> foreignNeighbor(const std::string& destination, const std::string& source);

} // namespace deltascope::app
