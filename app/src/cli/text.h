#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/cost_view.h"
#include "deltascope/app/view/log_view.h"
#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/statistics_view.h"

#include "terminal.h"

#include <string>

namespace deltascope::cli {

// Views as text for people. Nothing is computed here but layout.

constexpr const char* UnknownText = "–"; ///< in the place of a number that is not known

/// The history, newest step first. `limit`: how many steps at most, 0 for all. `all`: also those that change none of
/// the tensors that it is about.
std::string logText(const app::LogView& log, const Style& style, std::size_t limit, bool all);
/// One step as `watch` prints it.
std::string stepLine(const app::StepView& step, const Style& style);
std::string stepText(const app::StepDetailView& detail, const Style& style);
std::string listingText(const app::ListingView& listing, const Style& style);
std::string verifyText(const app::VerifyView& report, const Style& style);
std::string digestText(const app::DigestView& digest, const Style& style);
/// `path`: of the document.
std::string digestCheckText(const app::DigestCheckView& check, const std::string& path, const Style& style);
std::string diffText(const app::DiffView& diff, const Style& style);
std::string materializeText(const app::MaterializeView& result, const Style& style);
std::string publishedLine(const app::StepView& step, const Style& style);
std::string publishText(const app::PublishView& result, const Style& style);
std::string costText(const app::CostView& cost, const Style& style);
std::string statisticsText(const app::StatisticsView& view, const Style& style);
std::string statisticsHistoryText(const app::StatisticsHistoryView& view, const Style& style);
std::string tensorFirstsText(const app::TensorFirstsView& view, const Style& style);
std::string statisticsCostText(const app::StatisticsCostView& cost);
std::string refsText(const app::AnnotationsView& annotations, const Style& style);
std::string journalText(const app::AnnotationsView& annotations, const Style& style);
/// An act, planned or carried out. `command`: that carries the plan out; empty: none is named.
std::string actText(const app::RollBackView& view, const std::string& command, const Style& style);
std::string actText(const app::BranchView& view, const std::string& command, const Style& style);
std::string actText(const app::DiscardView& view, const std::string& command, const Style& style);
std::string actText(const app::AnnotatedView& view, const std::string& command, const Style& style);
std::string plannedPublicationText(const app::PublishView& view, const std::string& command, const Style& style);
std::string doctorText(const app::DoctorView& report, const Style& style);
// At the end of a command; empty, or whole lines.

/// What it moved over the network.
std::string metersText(const std::vector<app::StoreMeterView>& meters);
/// How much a device did of its work in so many seconds; nothing: none was opened.
std::string deviceText(const std::optional<app::DeviceShareView>& share, double seconds);
/// What a backend did not do as it was asked to.
std::string backendNoticesText(const std::vector<Error>& notices);

std::string problemText(const app::ProblemView& problem, const Style& style);
/// What the reader of a result must know about the bytes that it was made from; empty, or whole lines.
std::string readsText(const app::ReadsView& reads, const Style& style);
/// "Problems", or "Notices" where nothing among them is wrong.
std::string problemsHeading(const std::vector<app::ProblemView>& problems);
/// Whether the text of a problem says by itself which step it is about, or there is none.
bool namesStep(const app::ProblemView& problem);

} // namespace deltascope::cli
