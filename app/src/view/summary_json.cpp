#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "summary_description.h"

namespace deltascope::app {

std::string toJson(const RunSummaryView& view) { return dump(written(view)); }

std::string toJson(const std::vector<RunSummaryView>& views, std::uint64_t revision)
{
    return dump(written(RunListView { revision, views }));
}

std::string detailToJson(const RunSummaryView& view, std::int64_t nowUs)
{
    return dump(written(RunDetailView { view, nowUs }));
}

std::string toJson(const ReplicaHistoryView& view) { return dump(written(view)); }
std::string toJson(const FeedItemView& view) { return dump(written(view)); }

} // namespace deltascope::app
