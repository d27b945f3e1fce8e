#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <cstddef>
#include <functional>

namespace deltascope {

/// Runs `work` for 0…count-1 on `threads` threads; the first error stops the rest and is returned.
/// `work` must be safe to call from several threads.
Result<void> forEachParallel(unsigned threads, std::size_t count, TaskContext& task,
                             const std::function<Result<void>(std::size_t)>& work);

} // namespace deltascope
