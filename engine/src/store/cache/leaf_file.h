#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// A leaf of an object as a file of the disk cache: docs/formats/cache.md.

inline constexpr std::uint64_t MostLeafNameBytes = 64U << 10; ///< longer names are not kept
inline constexpr std::uint64_t LeafFileFrameBytes = 40; ///< beside name and payload

/// The file of a leaf. `object`: at most MostLeafNameBytes; `payload`: at most CacheLeafBytes.
std::vector<std::byte> makeLeafFile(std::string_view object, std::uint64_t leaf, ByteSpan payload);

/// The payload of a file that holds just this leaf, with as many bytes, and is sound in each bit. Points into `file`.
std::optional<ByteSpan> payloadOf(ByteSpan file, std::string_view object, std::uint64_t leaf,
                                  std::uint64_t payloadBytes);

/// Where the file of a leaf is below the folder of the leaves: "ab/cdef…", 2 and 30 hexadecimal digits.
std::string leafFilePath(std::string_view object, std::uint64_t leaf);

} // namespace deltascope
