#pragma once

#include "deltascope/engine/layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// metadata.json beside a delta or a full checkpoint.
struct GrailMetadata {
    static constexpr std::string_view FileName = "metadata.json";

    std::optional<std::int64_t> previous;
    StateDigest weights;
    struct File {
        std::uint32_t object = 0; ///< index in VersionObjects::objects
        std::string sha256;
    };
    std::vector<File> files;
};

/// `folder`: that the file and the paths in it lie in. Errors: Unfinished (it, or a file that it names, is not there
/// (yet)), Hostile, those of the store.
Result<GrailMetadata> readGrailMetadata(const ObjectStore& store, const VersionObjects& version,
                                        std::string_view folder, TaskContext& task);

} // namespace deltascope
