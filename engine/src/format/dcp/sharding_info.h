#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

inline constexpr std::string_view ShardingInfoKey = "DCP_SHARDING_INFO";

/// Where the rectangle of each tensor in a file begins: {"name": {"saved_offsets": [0, 16]}, …}.
using SavedOffsets = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;

/// Reads the metadata value of that key. Errors: Malformed.
Result<SavedOffsets> parseShardingInfo(std::string_view json);

} // namespace deltascope
