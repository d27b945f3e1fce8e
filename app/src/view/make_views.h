#pragma once

#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/cost_view.h"
#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/statistics_view.h"
#include "deltascope/app/view/tensor_view.h"
#include "deltascope/engine/beside.h"
#include "deltascope/engine/check_digests.h"
#include "deltascope/engine/cost.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/safetensors.h"
#include "deltascope/engine/statistics.h"
#include "deltascope/engine/tensor_view.h"
#include "deltascope/engine/trace.h"

#include <map>
#include <utility>

namespace deltascope::app {

// Engine values to view values. Pure functions.

/// `planner`: of this run, with the usual options.
StepView makeStepView(const Run& run, const Version& version, const Planner& planner);
/// All forms of a version, its own objects first. `planner`: as above.
std::vector<FormView> makeFormViews(const Version& version, const Planner& planner);
RunView makeRunView(const Run& run);
/// Of a source in which no run is found (yet): no versions, and why.
RunView makeEmptyRunView(const std::string& uri, const Error& why);
/// Whether per-tensor counts add up to what the facts of a version say; they may be missing where the facts are known.
bool explains(const Run& run, const Version& version, const std::vector<TensorCount>& counts);
/// `tensors`: of the state; `counts`: what the catalog knows of this version.
StepDetailView makeStepDetailView(const Run& run, const Version& version, const std::vector<TensorInfo>& tensors,
                                  const std::vector<TensorCount>& counts);
/// Adds replicas, notes and spans to a run. `logged`: spans that come from logs.
void addTrace(RunView& view, const Trace& trace, const std::vector<Span>& logged, std::int64_t nowUs);
/// Adds refs and notes to a run and its steps; before addTrace(), which sorts notes. What is wrong with a ref is said
/// with it alone: it is no problem of the run.
void addAnnotations(RunView& view, const Run& run, const Annotations& annotations);
/// The words that mean a version.
std::vector<std::string> wordsOf(const Run& run, const Version& version, const Annotations& annotations);
AnnotationsView makeAnnotationsView(const Run& run, const Annotations& annotations,
                                    const std::vector<JournalEntry>& journal);
/// Whether a replica has not been heard of for some of its periods.
bool isLate(const Heartbeat& heartbeat, std::int64_t nowUs);
/// Whether a replica has said its step for so long that a listing would show it.
bool isSaidForLong(const Heartbeat& heartbeat, std::int64_t nowUs);
/// How long engines stood still for a version.
struct Pause {
    std::int64_t lengthUs = 0;
    bool isLogged = false;
};
/// By epoch and step, of the actor that stood still longest: all its pauses together, overlaps once. Spans of the trace
/// win over those of logs for the same actor and step. Logs know no epochs: where several have a step, the one counts
/// whose version was published next to the span.
using Pauses = std::map<std::pair<int, std::int64_t>, Pause>;
Pauses pausesOf(const Run& run, const Trace& trace, const std::vector<Span>& logged);
void addPause(StepView& step, const Pauses& pauses);
/// `run`: the one that was found in the listing; null if none was.
ListingView makeListingView(const std::string& source, const std::vector<ObjectInfo>& listing, const Run* run);
CoverageView makeCoverageView(const Coverage& coverage);
/// Of the states that an act has read; null ones add nothing, and what several share is listed once. `known`: what
/// is known besides, as doubts of the choice and forms that proved damaged on other ways.
ReadsView makeReadsView(const std::vector<const State*>& states, const std::vector<Error>& known = {});
/// Adds those of one more state that the view does not list yet.
void addReads(ReadsView& view, const State& state);
VerifyView makeVerifyView(const Run& run, const VerifyReport& report);
DigestView makeDigestView(CheckpointDigest digest);
DigestCheckView makeDigestCheckView(DigestCheck check);
DiffView makeDiffView(DiffReport report);
/// Why no tensor of two states could be compared, of which a report says so. `isPart`: only some tensors are meant.
/// `a`, `b`: what the states are called.
std::string nothingInCommonText(const DiffReport& report, bool isPart, std::string a, std::string b);
CostView makeCostView(const Run& run, const CostReport& report, const std::optional<ChangePrediction>& prediction);
/// `a`: the step that was compared with.
BlocksView makeBlocksView(const TensorBlocks& blocks, std::optional<std::int64_t> a);
ElementsView makeElementsView(std::int64_t step, const ElementWindow& now, std::optional<std::int64_t> a,
                              const std::optional<ElementWindow>& before);
ValuesView makeValuesView(std::int64_t step, const ValueStatistics& values);
StatisticsView makeStatisticsView(std::int64_t step, std::optional<std::int64_t> a, const TensorStatistics& statistics);
HeaderView makeHeaderView(const std::string& key, const SafetensorsHeader& header);
MaterializeView makeMaterializeView(const Version& version, const MaterializeReport& report);

} // namespace deltascope::app
