#include "deltascope/app/view/task_view.h"

namespace deltascope::app {

bool isOver(const TaskView& task) { return task.state == "done" || task.state == "failed" || task.state == "canceled"; }

} // namespace deltascope::app
