#pragma once

#include "deltascope/engine/operations.h"

#include <optional>
#include <string>

namespace deltascope {

/// Who holds the lease of a run, as text; nothing where nobody does or its process has ended. Errors: those of the
/// store.
Result<std::optional<std::string>> leaseHolder(const Workbench& bench, const ObjectStore& run, TaskContext& task);

/// Whether nobody else publishes into the run, as far as its lease, its unfinished objects and the times of its
/// versions say: the newest one must be older than three usual intervals. `leftover`: an unfinished version that is
/// known to be of a process that has ended; null: none. Errors: Exists (somebody does, with what to do), those of the
/// store.
Result<void> expectNoProducer(const Workbench& bench, const Run& run, const Version* leftover, TaskContext& task);

} // namespace deltascope
