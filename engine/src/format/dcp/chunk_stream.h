#pragma once

#include "format/dcp/placed_tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// Opens a tensor that is pasted together from its chunks: FullBlock pieces, any block at any time. Memory does not
/// grow with the tensor or the number of its chunks. `tensor` has at least one element; its chunks are checked, with
/// extents in `version.objects`. The store must outlive the stream, as the task of `options`.
std::unique_ptr<PatchStream> openChunks(const ObjectStore& store, const VersionObjects& version,
                                        const PlacedTensor& tensor, const StreamOptions& options);

} // namespace deltascope
