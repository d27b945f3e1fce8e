#pragma once

#include "deltascope/base/bytes.h"

#include <cstddef>

namespace deltascope::xet {

// Where files are cut into chunks (content-defined, GearHash; draft-denis-xet, "Chunking").

inline constexpr std::size_t LeastChunkBytes = 8192; ///< but for the last one of a file
inline constexpr std::size_t MostChunkBytes = 131072;

/// Length of the chunk at the front of `rest`. If no cut lies within it: all of `rest` when the file ends there, else
/// 0, which means that more bytes are needed (never with MostChunkBytes or more). 0 for no bytes.
std::size_t nextChunkBytes(ByteSpan rest, bool isEnd) noexcept;

} // namespace deltascope::xet
