#pragma once

#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// A rectangle of a tensor: one offset and one size per dimension.
struct ChunkBox {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint64_t> sizes;

    bool isEmpty() const noexcept;
};

/// Whether every element of the tensor lies in exactly one of the boxes, none of which is empty. `tensor`: checked
/// (checkedSize()). Errors: Malformed (another rank, outside, overlap, hole), Unsupported (so irregular that it would
/// take long to tell).
Result<void> checkTiling(const TensorInfo& tensor, const std::vector<ChunkBox>& boxes);

} // namespace deltascope
