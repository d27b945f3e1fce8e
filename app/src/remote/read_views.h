#pragma once

#include "deltascope/app/monitor.h"

#include "json_reader.h"

#include <string>

namespace deltascope::app {

// Views from the JSON that app/src/view writes of them. They throw what readJson() catches; what the JSON of a view
// leaves out stays as in a view that was just made.

ProblemView readProblem(const json& from);
StepView readStep(const json& from);
/// Of a run's document; nothing where it has none.
std::optional<StoreMeterView> readMeter(const json& run);
DriftView readDrift(const json& from);
NoteView readNote(const json& from);
RefView readRef(const json& from);
SpanView readSpan(const json& from);
ReplicaView readReplica(const json& from);

/// What GET runs/{r}/steps/{s} answers.
StepDetailView readStepDetail(const json& from);
ListingView readListing(const json& from);
HeaderView readHeaderView(const json& from);
ElementsView readElements(const json& from);
StatisticsView readStatistics(const json& from);
StatisticsHistoryView readStatisticsHistory(const json& from);
StatisticsCostView readStatisticsCost(const json& from);
/// A line of JSON and the counts behind it.
Result<BlocksView> readBlocks(const std::string& body);

VerifyView readVerify(const json& from);
DiffView readDiff(const json& from);
MaterializeView readMaterialize(const json& from);
PlanView readPlan(const json& from);
RollBackView readRollBack(const json& from);
BranchView readBranch(const json& from);
AnnotatedView readAnnotated(const json& from);
AnnotationsView readAnnotations(const json& from);
TaskView readTask(const json& from);

AlertView readAlert(const json& from);
AlertListView readAlerts(const json& from);
BacktestView readBacktest(const json& from);

} // namespace deltascope::app
