#pragma once

#include "deltascope/base/task.h"
#include "format/dcp/placed_tensor.h"

#include <string_view>
#include <vector>

namespace deltascope {

/// Whether a file of this name holds rectangles of tensors: "shard-00001-model-00001-of-00002.safetensors".
bool isShardedFileName(std::string_view file) noexcept;

/// Reads the headers of the safetensors files of a version that hold rectangles of its tensors. Tensors come in order
/// of their names. docs/formats/dcp.md, section 6.
/// Errors: Unfinished (a number up to "of" is missing), Truncated, Malformed, Hostile, Unsupported, those of the store.
Result<std::vector<PlacedTensor>> readShardedSafetensors(const ObjectStore& store, const VersionObjects& version,
                                                         TaskContext& task);

} // namespace deltascope
