#pragma once

#include "deltascope/app/view/act_view.h"

#include <string>

namespace deltascope::app {

/// ActPlanView::beside in words for people: "2 journal entries, 1 lease, 1 list of spans". Empty: nothing comes beside
/// the run.
std::string besideWords(const ActPlanView& plan);

} // namespace deltascope::app
