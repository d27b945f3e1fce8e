#pragma once

#include "deltascope/engine/lineage.h"

namespace deltascope {

/// The full version that shows how many tensors the model has: the first one of the epoch if it is there (it is sent
/// before training starts and complete), else the one with the most tensors anywhere in the source. Null without a full
/// version.
const VersionSummary* referenceOf(const Run& run, int epoch);

} // namespace deltascope
