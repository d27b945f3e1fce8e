#include "deltascope/app/view/task_view.h"

namespace deltascope::app {

bool isOver(const TaskView& task) { return task.state == "done" || task.state == "failed" || task.state == "canceled"; }
bool isAtWork(const TaskView& task) { return !isOver(task) && !task.interrupted; }

} // namespace deltascope::app
