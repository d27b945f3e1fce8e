#pragma once

#include "deltascope/app/view/task_view.h"

#include <string>

namespace deltascope::app {

inline std::string stateWord(JobState state)
{
    switch (state) {
    case JobState::Queued:
        return "queued";
    case JobState::Running:
        return "running";
    case JobState::Paused:
        return "paused";
    case JobState::Done:
        return "done";
    case JobState::Failed:
        return "failed";
    case JobState::Canceled:
        return "canceled";
    }
    return {};
}

/// Whether what an interrupted run of the plan leaves behind is used by the next one.
inline bool leavesSomething(const PlanView& plan) { return !plan.destination.empty(); }

inline void interrupt(TaskView& view)
{
    view.state = "paused";
    view.interrupted = true;
    view.bytesPerSecond = 0;
    view.secondsLeft.reset();
}

inline void endCanceled(TaskView& view)
{
    view.state = "canceled";
    view.interrupted = false;
    view.resumable = leavesSomething(view.plan);
}

} // namespace deltascope::app
