#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <string>

namespace deltascope {

/// Under which key the catalog keeps what the headers of a base say: not that of a run in the same place, whose changes
/// are told.
std::string baseKey(const ObjectStore& store);

/// The checkpoint outside of a run that its chain starts from. Errors: BaseMissing (the folder holds none or several;
/// the text says what it holds), those of reading its headers.
Result<ExternalBase> openBase(Workbench& bench, std::shared_ptr<ObjectStore> store, TaskContext& task);

} // namespace deltascope
