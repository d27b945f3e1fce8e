#include "deltascope/app/view/json.h"

#include "cost_description.h"
#include "io/json_writer.h"

namespace deltascope::app {

std::string toJson(const CostView& view) { return dump(written(view)); }

} // namespace deltascope::app
