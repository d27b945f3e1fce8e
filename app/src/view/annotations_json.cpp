#include "deltascope/app/view/json.h"

#include "annotations_description.h"
#include "json_parts.h"

namespace deltascope::app {

std::string toJson(const AnnotationsView& view) { return dump(written(view)); }

std::string toJson(const AnnotatedView& view) { return dump(written(view)); }

} // namespace deltascope::app
