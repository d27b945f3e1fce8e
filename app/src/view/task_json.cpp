#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "plan_description.h"
#include "task_description.h"

namespace deltascope::app {

std::string toJson(const PlanView& view) { return dump(written(view)); }

std::string toJson(const TaskView& view) { return dump(written(view)); }

} // namespace deltascope::app
