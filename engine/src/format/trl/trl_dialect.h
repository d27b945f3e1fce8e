#pragma once

#include "deltascope/engine/safetensors.h"

#include <array>
#include <optional>
#include <string_view>

namespace deltascope {

/// What tells the file formats of TRL's delta weight sync apart. The `version` that each of them writes is "1" and says
/// nothing. docs/formats/trl-v1.md, docs/formats/trl-v2.md.
struct TrlDialect {
    std::string_view word;
    /// Folders of step files. The folder does not tell the kind: a full file may lie among the deltas.
    std::array<std::string_view, 2> folders;
    std::string_view indexEnd; ///< of the name of a tensor with positions
    std::string_view valueEnd;
    /// Whether a file's metadata are those of this dialect.
    bool (*wrote)(const SafetensorsHeader& header);
    /// Whether the file says that it is full; nothing where it says neither.
    std::optional<bool> (*saysFull)(const SafetensorsHeader& header);
    bool anchorsMayBePartial = false;
    /// Whether an empty step takes no number, so that each delta builds on the number before it.
    bool countsFilesOnly = false;
    /// Whether changes were found by comparing values; later writers guess them.
    bool writersAreExact = false;
    /// Positions pass through int32 in all writers (docs/formats/trl-v1.md, docs/formats/trl-v2.md).
    std::uint64_t countableElements = std::uint64_t { 1 } << 31;
    /// Whether some writers found changes by comparing the low bytes alone.
    bool mayCompareLowBytes = false;
};

extern const TrlDialect TrlV10;
extern const TrlDialect TrlV11;
extern const TrlDialect TrlV12;
extern const TrlDialect TrlV2;

} // namespace deltascope
