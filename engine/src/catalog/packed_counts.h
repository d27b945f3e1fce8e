#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace deltascope {

/// Pairs (tensor id, count) as LEB128 numbers, ids ascending and stored as differences. In the catalog: never renumber.
std::vector<std::byte> packCounts(std::vector<std::pair<std::uint64_t, std::uint64_t>> counts);
/// Nothing if the bytes are not whole pairs.
std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> unpackCounts(ByteSpan bytes);

} // namespace deltascope
