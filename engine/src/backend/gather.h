#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace deltascope {

/// Copies the bits of some elements of a block, one after another. `elementBytes` is 1, 2, 4 or 8; `out` is made as
/// long as they are.
void gather(ByteSpan block, std::span<const std::uint32_t> elements, unsigned elementBytes,
            std::vector<std::byte>& out);

} // namespace deltascope
