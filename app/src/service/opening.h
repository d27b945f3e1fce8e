#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/beside.h"
#include "deltascope/engine/file_state.h"
#include "deltascope/engine/logs.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/trace.h"
#include "seen_changes.h"

#include <initializer_list>
#include <memory>
#include <optional>

namespace deltascope::app {

/// What SourceRequest::epochs says. Errors: Usage.
Result<EpochChoice> epochChoice(const std::string& word);

/// What is kept from one look at a followed source to the next.
struct KeptLook {
    KeptListing& listing;
    bool changed; ///< something may have changed since the last look
};
/// Opens the source that a request means, with its base and layout. `acceptLosses`: OpenOptions::acceptLosses.
Result<Run> openRequested(Workbench& bench, const SourceRequest& request, TaskContext& task,
                          std::optional<KeptLook> look = {}, bool acceptLosses = false);

/// Compares the forms that the source has of a version, and of those that it builds on where no digest of its own will
/// tell whether the right one was used: they may lead to two states, and which one is meant is not known before.
/// Errors: as analyzeRun().
Result<void> compareFormsOnTheWay(Workbench& bench, Run& run, const Version& version, TaskContext& task);

/// A state that can be replayed: a version of a run, or a file on its own.
struct OpenState {
    std::unique_ptr<const Run> run; ///< null for a file
    const Version* version = nullptr; ///< in `run`; null for a file
    std::string chosen; ///< choiceText()
    std::optional<FallbackPlans> plans; ///< nothing for a file
    bool acceptRewritten = false;
    std::shared_ptr<const State> state; ///< along the present plan; null: see chooseState()
    const PathState* path = nullptr; ///< it, if it is a version; as long as `state`
    const FileState* file = nullptr; ///< it, if it is a file

    /// What makes the choice of the state doubtful, a second model beside it; forms that proved damaged, and what is
    /// used in their place.
    std::vector<Error> notices() const;
};
/// Whether a file is meant, not a run.
bool isSingleFile(const VersionRequest& request);
Result<OpenState> openState(Workbench& bench, const VersionRequest& request, bool acrossGap, TaskContext& task);
/// The same without its chain, unless it is a file: nothing but names and headers was read, and forms that had to be
/// compared.
Result<OpenState> chooseState(Workbench& bench, const VersionRequest& request, bool acrossGap, TaskContext& task);
/// Opens the chain of a state that was chosen.
Result<void> readState(Workbench& bench, OpenState& state, TaskContext& task);
/// After `error`: opens each state again whose plan reads the form that it names, along the next plan without that
/// form. Errors: `error` itself if no state has such a plan.
Result<void> moveOn(Workbench& bench, std::initializer_list<OpenState*> states, const Error& error, TaskContext& task);

/// Does `act` with open states, and from the beginning with other ways to them where a form proves damaged or lost.
template <class Act>
auto tryStates(Workbench& bench, std::initializer_list<OpenState*> states, const Act& act, TaskContext& task)
    -> decltype(act())
{
    for (;;) {
        auto outcome = act();
        if (outcome)
            return outcome;
        DS_CHECK(moveOn(bench, states, outcome.error(), task));
    }
}

/// Reads everything that stands in the logs now.
Result<void> readAll(LogReader& logs, TaskContext& task);
void addLogProblems(std::vector<ProblemView>& problems, const LogReader& logs);

/// The run with what stands beside it and in its logs.
RunView runViewOf(const Run& run, const SeenChanges& changes, const Annotations& annotations, const Trace& trace,
                  const LogReader& logs, std::uint64_t revision, std::int64_t nowUs);

/// Of all object stores that were opened.
std::vector<StoreMeterView> meterViews(const Stores& stores);
/// The meter of one of them; nothing for other stores.
std::optional<StoreMeterView> meterOf(const Stores& stores, const std::string& uri);

} // namespace deltascope::app
