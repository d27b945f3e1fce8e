#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "lineage_description.h"

namespace deltascope::app {

std::string stepToJson(const StepView& step, const std::optional<VerifiedView>& verified)
{
    return dump(written(CheckedStepView { step, verified }));
}

std::string toJson(const LineageView& view) { return dump(written(view)); }

} // namespace deltascope::app
