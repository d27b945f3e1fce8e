#pragma once

#include "deltascope/engine/layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What the names of shards ("model-00002-of-00003.safetensors") and their times say about a version that lacks some of
/// them, or that holds those of two saves: MissingTensor, Stray, Unproven. Writers count from 0 or from 1.
std::vector<Error> shardProblems(const VersionObjects& version);

/// Shards of one save whose names say how many there are.
struct CountedShards {
    std::uint64_t count = 0;
    std::vector<std::string> files; ///< that are there
    std::vector<std::string> missing; ///< names of those that are not
};

/// The shards that lie directly in a folder; nothing where none says a count, or where they say several.
std::optional<CountedShards> countShards(const VersionObjects& version, std::string_view folder);

} // namespace deltascope
