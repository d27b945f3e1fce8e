#pragma once

#include "deltascope/engine/lineage.h"

#include <cstdint>

namespace deltascope::app {

/// What may be read of checkpoints that nobody asked to be compared or judged: some seconds of a disk, little money of
/// an object store.
inline std::uint64_t affordableBytes(const Run& run)
{
    constexpr std::uint64_t OfFolder = 4ULL << 30;
    constexpr std::uint64_t OfObjectStore = 256ULL << 20;
    return run.store->traits().keepsReads ? OfObjectStore : OfFolder;
}

} // namespace deltascope::app
