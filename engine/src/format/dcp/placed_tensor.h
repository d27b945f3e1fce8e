#pragma once

#include "deltascope/engine/layout.h"
#include "format/dcp/chunk_tiling.h"
#include "format/dcp/stored_checksums.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// A chunk of a tensor and the bytes of an object that hold it.
struct PlacedChunk {
    ChunkBox box;
    std::vector<std::uint64_t> strides; ///< of the stored elements, one per dimension
    Extent extent; ///< from the first element to the end of the one that lies last
    StoredChecksum stored {}; ///< of what it is a view of, where its file records one
};

/// A tensor that is pasted together from chunks, which tile it. All of it was checked.
struct PlacedTensor {
    TensorInfo info;
    std::vector<PlacedChunk> chunks;

    /// Whether its bytes lie in one extent as they are.
    bool isPlain() const noexcept;
};

/// Strides of a row-major tensor.
std::vector<std::uint64_t> denseStrides(const std::vector<std::uint64_t>& sizes);

} // namespace deltascope
