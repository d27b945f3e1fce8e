#pragma once

#include "deltascope/app/view/task_view.h"

#include "acts/report.h"
#include "problem_description.h"

namespace deltascope::app {

inline constexpr WordSet TaskStates { "TaskState",
                                      { "queued", "running", "paused", "canceling", "canceled", "failed", "done" } };

/// Of its plan what a list of tasks needs.
template <class Io> void describe(Io& io, Of<Io, TaskView>& task)
{
    io.type("Task", "An act on its way, or done.");
    io("id", task.id);
    io("kind", task.plan.kind, "ActInfo.kind: verify, diff, materialize, rollback, …");
    io("title", task.plan.title, "\"Materialize step 12 of wordle\"");
    io("run", task.plan.run, "RunSummary.id");
    io("state", word(task.state, TaskStates));
    io("phase", task.phase);
    io("done", task.doneBytes, "bytes of this phase");
    io("total", task.totalBytes, "0: not known");
    io("rate", task.bytesPerSecond, "bytes per second over the last seconds");
    io("eta_s", task.secondsLeft);
    io("elapsed_s", task.seconds);
    io("started_us", task.startedUs);
    io("by", task.by);
    io("cli", task.plan.cli);
    io("plan_hash", task.plan.hash, "Plan.hash");
    if (io.has("undo")) // earlier versions had no acts that can be taken back
        io("undo", nullIfEmpty(task.plan.undo), "kind of the act that takes it back");
    if (io.has("destination")) // earlier versions do not write it
        io("destination", nullIfEmpty(task.plan.destination), "folder or address that it writes");
    io("resumable", task.resumable, "canceled or failed: running the same plan again goes on from what is there");
    io("interrupted", task.interrupted, "paused: the program that worked on it ended");
    io.computed(
        "accept_rewritten",
        [&] { return mayAcceptRewritten(task) ? std::optional(acceptRewrittenText(task.plan.kind)) : std::nullopt; },
        "what it means to do it with rewritten objects, where they are in the way");
    io("problem", task.problem, "of state failed");
    io("backend", absentIfEmpty(task.backend),
       "what found, measured and applied changes: \"avx2\", or \"cuda\" where a device did a part; absent while it is "
       "at "
       "work");
    io("backend_notices", absentIfEmpty(task.backendNotices),
       "what that did not do as asked: a device failed since the task began, or before where it did nothing of it, and "
       "the processor did its work; absent: nothing");
    io("device_bytes", absentIfEmpty(task.deviceBytes),
       "that a device compared or replayed while the task was at work, also for tasks beside it; absent: none was "
       "asked "
       "for");
    io("batch_bytes", absentIfEmpty(task.batchBytes),
       "of all batches meanwhile, those of the processor, too; absent: no device was asked for");
    if (io.has("not_kept")) // servers and records of earlier versions have none
        io("not_kept", task.notKept, "why what happened last is not on disk: it would be lost with the daemon");
    io("result", typed(task.result, ReportType { task.plan.kind }), "of state done");
}

} // namespace deltascope::app
