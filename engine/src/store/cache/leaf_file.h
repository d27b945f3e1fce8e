#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

// A leaf of an object as a file of the disk cache: docs/formats/cache.md.

inline constexpr std::uint64_t MostLeafNameBytes = 64U << 10; ///< longer names are not kept
inline constexpr std::uint64_t LeafFileFrameBytes = 40; ///< beside name and payload

/// Hands the file of a leaf to `take`, piece by piece and in order, until that fails. `object`: at most
/// MostLeafNameBytes; `payload`: at most CacheLeafBytes.
Result<void> writeLeafFile(std::string_view object, std::uint64_t leaf, ByteSpan payload,
                           const std::function<Result<void>(ByteSpan)>& take);

/// The payload of a file that holds just this leaf, with as many bytes, and is sound in each bit. Points into `file`.
std::optional<ByteSpan> payloadOf(ByteSpan file, std::string_view object, std::uint64_t leaf,
                                  std::uint64_t payloadBytes);

/// Where the file of a leaf is below the folder of the leaves: "ab/cdef…", 2 and 30 hexadecimal digits.
std::string leafFilePath(std::string_view object, std::uint64_t leaf);

} // namespace deltascope
