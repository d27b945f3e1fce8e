#pragma once

#include "deltascope/base/task.h"
#include "deltascope/engine/layout.h"
#include "format/common/index_json.h"

namespace deltascope {

/// TensorEntry::encoding of this layout.
enum class SlimeEncoding : std::uint8_t {
    None, ///< a full tensor
    Xor, ///< zstd of a mask as long as the tensor
    Overwrite, ///< zstd of a count, byte positions and byte values
};

/// Reads the data files of a delta. `index`: the version's own, with delta_encoding.
/// Errors: Unfinished (a data file is missing), Truncated, Hostile, Unsupported (another compression, encoding or
/// checksum), and those of the store.
Result<VersionIndex> readSlimeDelta(const ObjectStore& store, const VersionObjects& version, const IndexJson& index,
                                    TaskContext& task);

} // namespace deltascope
