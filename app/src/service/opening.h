#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/logs.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/trace.h"

#include <memory>
#include <optional>

namespace deltascope::app {

/// What SourceRequest::epochs says. Errors: Usage.
Result<EpochChoice> epochChoice(const std::string& word);

/// Opens the source that a request means, with its base and layout.
Result<Run> openRequested(Workbench& bench, const SourceRequest& request, TaskContext& task);

/// A state that can be replayed: a version of a run, or a file on its own.
struct OpenState {
    std::optional<Run> run;
    const Version* version = nullptr; ///< in `run`; null for a file
    std::string chosen; ///< choiceText()
    Plan plan;
    std::unique_ptr<Chain> chain;
};
/// Whether a file is meant, not a run.
bool isSingleFile(const VersionRequest& request);
Result<OpenState> openState(Workbench& bench, const VersionRequest& request, bool acrossGap, TaskContext& task);

/// Reads everything that stands in the logs now.
Result<void> readAll(LogReader& logs, TaskContext& task);
void addLogProblems(std::vector<ProblemView>& problems, const LogReader& logs);

/// The run with what stands beside it and in its logs.
RunView runViewOf(const Run& run, const Trace& trace, const LogReader& logs, std::uint64_t revision,
                  std::int64_t nowUs);

} // namespace deltascope::app
