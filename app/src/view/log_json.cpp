#include "deltascope/app/view/json.h"

#include "io/json_writer.h"
#include "log_description.h"

namespace deltascope::app {

std::string toJson(const LogView& view) { return dump(written(view)); }

} // namespace deltascope::app
