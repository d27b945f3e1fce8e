#pragma once

#include "deltascope/app/view/run_view.h"
#include "deltascope/base/result.h"

#include <string>

namespace deltascope::app {

/// "0:12": epoch and step.
std::string addressOf(const StepView& step);
/// The step that "12" (of the newest epoch that has it) or "0:12" means. Errors: Usage, NotFound.
Result<const StepView*> findStep(const RunView& run, const std::string& address);

} // namespace deltascope::app
