#pragma once

#include "deltascope/base/task.h"

namespace deltascope::test {

/// A task that nobody stops, for calls in which a test does not care about it.
inline TaskContext& anyTask()
{
    static TaskContext task;
    return task;
}

} // namespace deltascope::test
