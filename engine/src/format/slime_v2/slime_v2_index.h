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

/// The number of a version from its name in an index; nothing if it has none.
using VersionNumber = std::optional<std::int64_t> (*)(std::string_view name);

/// Reads the data files of a delta. `index`: the version's own, with delta_encoding. `numberOf`: null where versions
/// are linked by ids (Layout::linksByIds), which then stand in the result. Errors: Unfinished (a data file is missing),
/// Truncated, Malformed, Hostile, Unsupported (another compression, encoding or checksum), and those of the store.
Result<VersionIndex> readSlimeDelta(const ObjectStore& store, const VersionObjects& version, const IndexJson& index,
                                    VersionNumber numberOf, TaskContext& task);

/// Opens an entry of such a delta, or of a full version. Errors: those of Layout::open.
Result<std::unique_ptr<PatchStream>> openSlimeEntry(const ObjectStore& store, const VersionObjects& version,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options);

} // namespace deltascope
