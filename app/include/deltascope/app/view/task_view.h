#pragma once

#include "deltascope/app/events.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// Acts as every face shows them: first a plan, which does nothing, then a task, bound to the hash of the plan.

struct PlanStepView {
    std::string text;
    std::uint64_t bytes = 0;
};

/// Something about what an act would do: "Restores", "step 12, verified".
struct PlanFactView {
    std::string label;
    std::string text;
};

/// What an act would do.
struct PlanView {
    std::string id;
    std::string hash; ///< over everything that the plan depends on
    std::string kind; ///< ActInfo::kind
    /// "planning": states are read for it; "ready"; "failed": `problem` says why.
    std::string state = "ready";
    std::string phase; ///< of state planning
    std::uint64_t doneBytes = 0, totalBytes = 0; ///< of that phase; 0: not known
    std::optional<ProblemView> problem; ///< of state failed
    std::string run; ///< id
    std::string title; ///< "Materialize step 12 of wordle"
    std::string cli; ///< the same as a command line
    std::vector<PlanStepView> steps; ///< what is read and written, in order
    std::uint64_t readBytes = 0;
    std::uint64_t writeBytes = 0;
    std::optional<std::uint64_t> freeBytes; ///< where it would be written
    std::string destination; ///< empty: nothing is written
    std::vector<std::string> warnings;
    std::vector<PlanFactView> facts;
    std::optional<ActPlanView> act; ///< every object that is read, written or deleted; nothing until it is planned
    std::vector<ChangedTensorView> changes; ///< of an act that changes a state: as RollBackView::tensors
    std::string confirm; ///< the word that a user types before the act may begin; empty: none
    std::string undo; ///< kind of the act that takes it back; empty: none
};

/// An act on its way, or done.
struct TaskView {
    std::string id;
    PlanView plan;
    std::string by;
    std::int64_t startedUs = 0;
    std::string state; ///< queued running paused canceling canceled failed done
    std::string phase;
    std::uint64_t doneBytes = 0;
    std::uint64_t totalBytes = 0; ///< 0: not known
    double bytesPerSecond = 0;
    std::optional<double> secondsLeft;
    double seconds = 0;
    bool resumable = false; ///< running the same plan again goes on from what is there
    bool interrupted = false; ///< of state paused: the program that worked on it ended; resuming begins here
    std::optional<ProblemView> problem; ///< of state failed
    std::string backend; ///< what found, measured and applied changes: "avx2", "cuda" (with deviceBytes alone); empty
                         ///< while at work
    /// What that did not do as asked since the task began, or before where a device did nothing of it.
    std::vector<ProblemView> backendNotices;
    /// Bytes that a device compared or replayed while the task was at work, also for tasks beside it; nothing: none was
    /// asked for.
    std::optional<std::uint64_t> deviceBytes;
    std::optional<std::uint64_t> batchBytes; ///< of so many that it could have: likewise
    /// Why what happened last is not on disk: it would be lost with the program.
    std::optional<ProblemView> notKept;
    std::optional<JobResult> result; ///< of state done
};

/// What it means to do such an act with objects that were rewritten since they were first read. `kind`: of a PlanView.
std::string acceptRewrittenText(const std::string& kind);
/// Whether rewritten objects are why the task failed, or what its verification found, so that it can be done with them.
bool mayAcceptRewritten(const TaskView& task);
bool isOver(const TaskView& task); ///< done, failed or canceled
bool isAtWork(const TaskView& task); ///< neither over nor interrupted

} // namespace deltascope::app
