#include "format/dcp/placed_tensor.h"

namespace deltascope {

std::vector<std::uint64_t> denseStrides(const std::vector<std::uint64_t>& sizes)
{
    std::vector<std::uint64_t> strides(sizes.size());
    std::uint64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= sizes[i];
    }
    return strides;
}

bool PlacedTensor::isPlain() const noexcept
{
    if (chunks.size() != 1)
        return chunks.empty();
    const PlacedChunk& chunk = chunks.front();
    std::uint64_t stride = 1;
    for (std::size_t i = info.shape.size(); i-- > 0;) {
        if (info.shape[i] > 1 && chunk.strides[i] != stride)
            return false;
        stride *= info.shape[i];
    }
    return true;
}

} // namespace deltascope
