#pragma once

#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/lineage_view.h"
#include "deltascope/app/view/listing_page.h"
#include "deltascope/app/view/series_view.h"
#include "deltascope/app/view/statistics_view.h"
#include "deltascope/app/view/summary_view.h"
#include "deltascope/app/view/task_view.h"
#include "deltascope/app/view/tensor_view.h"

#include <optional>
#include <string>

namespace deltascope::app {

// The JSON of what faces show that follow runs, one document on one line (docs/http-api.md). Keys and rules as in
// json.h.

std::string toJson(const RunSummaryView& view);
std::string toJson(const std::vector<RunSummaryView>& views, std::uint64_t revision);
/// The page Live: summary, problems, events, replicas, feed.
std::string detailToJson(const RunSummaryView& view, std::int64_t nowUs);
std::string toJson(const ReplicaHistoryView& view);
std::string toJson(const FeedItemView& view);
/// A step with its verification.
std::string stepToJson(const StepView& step, const std::optional<VerifiedView>& verified);
std::string toJson(const SeriesView& view);
/// Rows of the heatmap.
std::string tensorsToJson(const HeatView& heat, int epoch);
/// Columns of the heatmap. `verified`: of the run.
std::string heatIndexToJson(const HeatView& heat, const RunSnapshot& snapshot, int epoch);
std::string toJson(const LineageView& view);
std::string toJson(const ListingPage& page);
/// Without the counts, which follow as binary.
std::string blocksToJson(const BlocksView& view);
std::string toJson(const ElementsView& view);
std::string toJson(const StatisticsView& view);
std::string toJson(const StatisticsHistoryView& view);
std::string toJson(const TensorFirstsView& view);
std::string toJson(const StatisticsCostView& view);
std::string toJson(const HeaderView& view);
std::string toJson(const PlanView& view);
std::string toJson(const TaskView& view);

} // namespace deltascope::app
