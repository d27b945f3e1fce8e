#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// The content of small objects as they were listed, in one readMany(), each with its own outcome: Hostile for one that
/// is empty, larger than `mostBytes` or no file. Errors: Canceled.
Result<std::vector<Result<std::string>>> readTexts(const ObjectStore& store, const std::vector<ObjectInfo>& objects,
                                                   std::uint64_t mostBytes, TaskContext& task);

} // namespace deltascope
