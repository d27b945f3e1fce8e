#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/alert_view.h"
#include "deltascope/app/view/cost_view.h"
#include "deltascope/app/view/log_view.h"
#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/timeline_view.h"

#include <functional>
#include <string>
#include <string_view>

namespace deltascope::app {

/// One JSON document per view, on one line without a line break at the end: the CLI's --json, the HTTP API's body. Keys
/// are snake_case; times are microseconds since 1970; unknown numbers are null. Invalid UTF-8 in names is replaced.
std::string toJson(const RunView& view);
std::string toJson(const LogView& view);
std::string toJson(const StepDetailView& view);
std::string toJson(const ListingView& view);
std::string toJson(const VerifyView& view);
std::string toJson(const DigestView& view);
std::string toJson(const DigestCheckView& view);
std::string toJson(const DiffView& view);
/// Takes a document piece by piece.
using TextSink = std::function<void(std::string_view)>;
/// The same documents, of those with a row for each tensor: a checkpoint can have a million, and no tree or text of
/// all of them is made.
void writeJson(const StepDetailView& view, const TextSink& sink);
void writeJson(const DigestView& view, const TextSink& sink);
void writeJson(const DiffView& view, const TextSink& sink);
std::string toJson(const MaterializeView& view);
std::string toJson(const PublishView& view);
std::string toJson(const DoctorView& view);
std::string toJson(const AnnotationsView& view);
std::string toJson(const AnnotatedView& view);
std::string toJson(const RollBackView& view);
std::string toJson(const BranchView& view);
std::string toJson(const DiscardView& view);
std::string toJson(const CostView& view);
std::string toJson(const TimelineView& view);
/// The spans as a Chrome trace (JSON), which Perfetto opens: one process per actor, publications as marks.
std::string chromeTrace(const TimelineView& view);
std::string toJson(const AlertView& view);
std::string toJson(const AlertListView& view);
std::string toJson(const BacktestView& view);
/// Keys for the end of a document, with a comma in front: what a device did for it ("device_bytes" of "batch_bytes";
/// nothing: none was asked for), and what the backend did not do as asked ("backend_notices"; empty: left out).
std::string backendKeysToJson(const std::optional<DeviceShareView>& share, const std::vector<ProblemView>& notices);
/// {"error":{"code","where","step","text","remedy"}}
std::string errorToJson(const ProblemView& problem);
/// One line of `watch --json`.
std::string stepToJson(const StepView& view);

} // namespace deltascope::app
