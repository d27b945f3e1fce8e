#pragma once

#include "cache_leaf.h"

#include <functional>
#include <vector>

namespace deltascope {

/// What is wanted of an object and not there.
struct FetchWish {
    std::uint64_t sizeBytes = 0;
    std::vector<std::uint64_t> missing; ///< leaves that somebody waits for; ascending, not empty
    bool isFirstLook = false; ///< nothing of the object is there or on its way
    /// Room for leaves that nobody waits for yet: of the same window, and beyond.
    std::uint64_t windowBytes = 0;
    std::uint64_t aheadBytes = 0;
    bool isPlanned = false; ///< somebody fetches what comes behind (ReadAheadOfCache)
};

/// Smaller objects are fetched whole as soon as more than their front is wanted.
inline constexpr std::uint64_t WholeBelowBytes = std::uint64_t { 64 } << 20;

/// The leaves to fetch, ascending; each range lies within one window (4 MiB, counted from the begin of the object) and
/// is a request. A first look at the front alone, where headers are, fetches that leaf alone. Otherwise windows that
/// hold missing leaves are fetched whole; objects below 64 MiB completely, and of larger ones up to three windows more
/// where the leaves in front have been read before; nothing beyond the windows where that is planned. `isAbsent`:
/// neither there nor on its way.
std::vector<LeafRange> planFetch(const FetchWish& wish, const std::function<bool(std::uint64_t leaf)>& isAbsent);

} // namespace deltascope
