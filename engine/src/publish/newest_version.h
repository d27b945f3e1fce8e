#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// The version that the next one is published behind: the last of the newest epoch. Null: there is none.
inline const Version* newestVersion(const Run& run) noexcept
{
    return run.versions.empty() ? nullptr : &run.versions.back(); // by epoch, then step
}

} // namespace deltascope
