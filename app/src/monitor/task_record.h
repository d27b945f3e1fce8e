#pragma once

#include "deltascope/app/monitor.h"

#include <string>

namespace deltascope::app {

/// All that brings a task back in another process.
struct TaskRecord {
    TaskView view;
    ActRequest request;
    ActArgs settled; ///< BoundPlan::settled
    SourceRequest source;

    ActRequest settledRequest() const; ///< the request with what was settled
};

/// One JSON document. A result that would make it larger than 1 MiB is left out.
std::string recordText(const TaskRecord& record);
/// Errors: Hostile (not written by recordText).
Result<TaskRecord> readRecord(const std::string& text);

} // namespace deltascope::app
