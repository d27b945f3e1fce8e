#pragma once

#include "deltascope/engine/object_store.h"

namespace deltascope {

/// What was read of a checkpoint that nothing is on record of must still be there when what was made of it is kept.
/// Errors: Rewritten.
Result<void> expectSameObject(const ObjectStore& store, const ObjectInfo& object, TaskContext& task);

} // namespace deltascope
