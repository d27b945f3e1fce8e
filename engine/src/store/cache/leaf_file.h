#pragma once

#include "cache_leaf.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/hash_tree.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// Neighboring leaves of an object as a file of the disk cache: docs/formats/cache.md.

inline constexpr std::uint64_t MostLeafNameBytes = 64U << 10; ///< longer names are not kept

/// What such a file holds, by its length.
struct LeafFileShape {
    std::uint64_t leaves = 0;
    std::uint64_t payloadBytes = 0;
};
LeafFileShape leafFileShape(std::uint64_t fileBytes, std::string_view object) noexcept;
std::uint64_t leafFileBytes(std::string_view object, std::uint64_t payloadBytes) noexcept;

/// What stands in front of the payload. `object`: at most MostLeafNameBytes.
std::vector<std::byte> leafFileHead(std::string_view object, std::uint64_t firstLeaf, std::uint64_t payloadBytes);

/// What proves one leaf of a file with this head.
Digest128 leafDigest(ByteSpan head, std::uint64_t leaf, ByteSpan payload);

/// Hands the file of `leaves` to `take`, piece by piece and in order, until that fails. `payload`: their bytes; those
/// of each leaf but the last one are CacheLeafBytes.
Result<void> writeLeafFile(std::string_view object, const LeafRange& leaves, ByteSpan payload,
                           const std::function<Result<void>(ByteSpan)>& take);

/// Where the file is that begins with this leaf, below the folder of the leaves: "ab/cdef…", 2 and 30 hexadecimal
/// digits.
std::string leafFilePath(std::string_view object, std::uint64_t firstLeaf);

} // namespace deltascope
