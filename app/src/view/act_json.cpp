#include "deltascope/app/view/json.h"

#include "act_description.h"
#include "json_parts.h"

namespace deltascope::app {

std::string toJson(const RollBackView& view) { return dump(written(view)); }

std::string toJson(const BranchView& view) { return dump(written(view)); }

std::string toJson(const DiscardView& view) { return dump(written(view)); }

} // namespace deltascope::app
