#pragma once

#include <algorithm>
#include <cstdint>

namespace deltascope {

/// Objects are kept in leaves of this size, and the last one is shorter: those of the records (LeafBytes).
inline constexpr std::uint64_t CacheLeafBytes = std::uint64_t { 1 } << 20;

/// Windows of an object, counted from its begin: leaves of one window are fetched in one request and kept in one file.
inline constexpr std::uint64_t LeavesOfWindow = 4;

/// Leaves in a row.
struct LeafRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;

    std::uint64_t end() const noexcept { return first + count; }
    bool operator==(const LeafRange&) const = default;
};

inline std::uint64_t leavesOfSize(std::uint64_t sizeBytes) noexcept
{
    return sizeBytes / CacheLeafBytes + (sizeBytes % CacheLeafBytes != 0 ? 1 : 0);
}

/// The leaves that hold these bytes, of which there is at least one.
inline LeafRange leavesOf(std::uint64_t offset, std::uint64_t bytes) noexcept
{
    const std::uint64_t first = offset / CacheLeafBytes;
    return { first, (offset + bytes - 1) / CacheLeafBytes - first + 1 };
}

/// How many bytes an object of `sizeBytes` has in these leaves, which lie inside of it.
inline std::uint64_t bytesOfLeaves(const LeafRange& leaves, std::uint64_t sizeBytes) noexcept
{
    return std::min(leaves.end() * CacheLeafBytes, sizeBytes) - leaves.first * CacheLeafBytes;
}

} // namespace deltascope
