#pragma once

#include "deltascope/engine/object_store.h"

#include <string>
#include <vector>

namespace deltascope {

/// What publication without a reader the objects are, by what some small files among them say: "Miles' gpu-delta, …".
/// Empty: none that is known. Errors: those of the store that concern more than one object.
Result<std::string> foreignPublication(const ObjectStore& store, const std::vector<const ObjectInfo*>& objects,
                                       TaskContext& task);

} // namespace deltascope
