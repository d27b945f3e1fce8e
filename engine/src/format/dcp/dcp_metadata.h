#pragma once

#include "deltascope/engine/tensor.h"
#include "format/dcp/chunk_tiling.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// A chunk of a tensor and the item that holds it.
struct DcpChunk {
    ChunkBox box;
    std::string file; ///< a plain name in the folder of .metadata
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

struct DcpTensor {
    TensorInfo info;
    std::vector<DcpChunk> chunks; ///< those with elements; they tile the tensor
};

/// The tensors that a .metadata file describes, in order of their names. docs/formats/dcp.md, section 3.
/// Errors: Truncated, Malformed, Hostile, Unsupported (see Pickle::parse; an element type, a memory layout or a
/// transformation of the data that this build does not know).
Result<std::vector<DcpTensor>> parseDcpMetadata(std::vector<std::byte> pickle);

} // namespace deltascope
