#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/lineage.h"

namespace deltascope::app {

ActPlanView makeActPlanView(const ActPlan& plan);
PlannedReadView makePlannedReadView(const Run& run, const ActPlan& plan);

} // namespace deltascope::app
