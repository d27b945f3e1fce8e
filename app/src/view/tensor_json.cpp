#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "listing_description.h"
#include "tensor_description.h"

namespace deltascope::app {

std::string blocksToJson(const BlocksView& view) { return dump(written(view)); }

std::string toJson(const ElementsView& view) { return dump(written(view)); }

std::string toJson(const HeaderView& view) { return dump(written(view)); }

std::string toJson(const ListingPage& page) { return dump(written(page)); }

} // namespace deltascope::app
