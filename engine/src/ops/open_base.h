#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <string>

namespace deltascope {

/// The key under which the catalog keeps the summary of a base. A run in the same place has another key: its changes
/// become events.
std::string baseKey(const ObjectStore& store);

/// The checkpoint outside of a run that its chain starts from: of Hugging Face, an adapter, or a DCP save. Errors:
/// BaseMissing (the folder holds none or several; the text says what it holds), those of reading its headers.
Result<ExternalBase> openBase(Workbench& bench, std::shared_ptr<ObjectStore> store, TaskContext& task);

} // namespace deltascope
