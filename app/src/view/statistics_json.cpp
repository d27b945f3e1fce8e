#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "statistics_description.h"

namespace deltascope::app {

std::string toJson(const StatisticsView& view) { return dump(written(view)); }

std::string toJson(const StatisticsHistoryView& view) { return dump(written(view)); }

std::string toJson(const TensorFirstsView& view) { return dump(written(view)); }

std::string toJson(const StatisticsCostView& view) { return dump(written(view)); }

} // namespace deltascope::app
