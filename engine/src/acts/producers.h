#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// Whether nobody else publishes into the run, as far as its lease, its unfinished objects and the times of its
/// versions say: the newest one must be older than three usual intervals. `leftover`: an unfinished version that is
/// known to be of a process that has ended; null: none. Errors: Exists (somebody does, with what to do), those of the
/// store.
Result<void> expectNoProducer(const Workbench& bench, const Run& run, const Version* leftover, TaskContext& task);

} // namespace deltascope
