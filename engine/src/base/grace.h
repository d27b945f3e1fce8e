#pragma once

#include "deltascope/base/task.h"

#include <functional>

namespace deltascope {

/// Calls `work` with a task of its own, which is not paused with another one. A quarter of a second after `stops` is
/// asked to stop, so is that task: what ends a stopped work has as long to be written. `stops`: null: nothing stops it.
void withGrace(const TaskContext* stops, const std::function<void(TaskContext& task)>& work);

} // namespace deltascope
