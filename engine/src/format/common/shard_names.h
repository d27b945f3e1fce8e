#pragma once

#include "deltascope/engine/layout.h"

#include <vector>

namespace deltascope {

/// What the names of shards ("model-00002-of-00003.safetensors") and their times say about a version that lacks some of
/// them, or that holds those of two saves: MissingTensor, Stray, Unproven. Writers count from 0 or from 1.
std::vector<Error> shardProblems(const VersionObjects& version);

} // namespace deltascope
