#pragma once

#include "../../base/file_handle.h"

#include <algorithm>
#include <cstdint>

namespace deltascope {

/// What a file counts for in the cap of a cache: many small ones take more than their bytes.
inline std::uint64_t takenBytes(std::uint64_t fileBytes) noexcept
{
    return std::max<std::uint64_t>(fileBytes, 16U << 10);
}

/// Removes the leaves that were not used for the longest time until the others take at most `mostBytes`, and what
/// writers that died left behind an hour ago and more. Files with other names than the cache gives are left alone.
/// `leaves`: the folder of the leaves. False: it could not be read.
bool trimLeaves(const FileHandle& leaves, std::uint64_t mostBytes);

} // namespace deltascope
