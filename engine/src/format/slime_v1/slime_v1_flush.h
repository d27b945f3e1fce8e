#pragma once

#include "deltascope/engine/layout.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/unpacked_object.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// One flush file of slime's first delta format: the changed elements of some tensors, all positions in one blob and
/// all values in one list. docs/formats/slime-v1.md.
struct SlimeFlush {
    std::string encoding; ///< "indices", "deltas", "deltas_zstd"
    StoredTensor positions; ///< offsets in the file, or in its content where it is packed
    StoredTensor values;
    std::string version; ///< the one that it says it belongs to, decimal; empty if none
    std::string checksum; ///< decimal; empty if none
    std::vector<TensorEntry> entries; ///< extents: positions, values
    bool isTiled = false; ///< the entries take all of the positions and values, one behind the other, as writers do
    std::shared_ptr<UnpackedObject> packed; ///< null for files that are not compressed
};

/// Reads header and parameter list. `object`: index of it in the version. Errors: Hostile, Unsupported, Truncated,
/// those of the store.
Result<SlimeFlush> readSlimeFlush(const ObjectStore& store, const ObjectInfo& info, std::uint32_t object,
                                  TaskContext& task);

/// Compares the flush with its checksum. Errors: Digest, Hostile, those of the store.
Result<void> checkSlimeFlush(const ObjectStore& store, const ObjectInfo& info, const SlimeFlush& flush,
                             TaskContext& task);

} // namespace deltascope
