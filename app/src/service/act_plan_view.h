#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/engine/act_plan.h"

namespace deltascope::app {

ActPlanView makeActPlanView(const ActPlan& plan);

} // namespace deltascope::app
