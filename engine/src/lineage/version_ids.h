#pragma once

#include "deltascope/engine/lineage.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deltascope {

using ShownNumbers = std::map<std::string, std::int64_t>;

/// Finds what the versions of a layout whose links are ids (Layout::linksByIds) build on, and gives them their numbers.
///
/// Where all folders are named by one word and a number, and the links agree with that order, the numbers are theirs.
/// Otherwise a version's number is its place in the order of the links: 1, 2, …; a number that was shown before stays.
/// `shown`: those that were, by id and by name; it has all of them behind the call. A complete version names no base,
/// and may not name itself: then it is what the next version builds on. `versions` ascend by step, and do so behind the
/// call. What contradicts itself (two versions of one id, links in a circle, an id that names another number than its
/// folder) gets a failure instead of its summary.
void resolveIds(std::vector<IndexedObjects>& versions, ShownNumbers& shown);

} // namespace deltascope
