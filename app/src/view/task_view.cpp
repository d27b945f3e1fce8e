#include "deltascope/app/view/task_view.h"

#include "deltascope/app/acts.h"
#include "deltascope/base/code.h"

#include <algorithm>

namespace deltascope::app {

namespace {

bool isRewritten(const ProblemView& problem) { return problem.code == word(Code::Rewritten); }

/// Whether acts of a kind have an argument of this name.
bool takes(std::string_view kind, std::string_view argument)
{
    const std::vector<ActInfo> acts = actInfos();
    const auto act = std::find_if(acts.begin(), acts.end(), [&](const ActInfo& info) { return info.kind == kind; });
    return act != acts.end() && std::any_of(act->fields.begin(), act->fields.end(), [&](const ActField& field) {
               return field.name == argument;
           });
}

}

std::string acceptRewrittenText(const std::string& kind)
{
    return kind == "verify" ? "Trust the bytes that are there now from now on, which are not those first read"
                            : "Use the bytes that are there now, which are not those first read";
}

bool mayAcceptRewritten(const TaskView& task)
{
    if (task.problem) // without a step it is the plan that is out of date
        return task.state == "failed" && task.problem->step && isRewritten(*task.problem)
            && takes(task.plan.kind, "accept_rewritten");
    const auto* report = task.result ? std::get_if<std::shared_ptr<const VerifyView>>(&*task.result) : nullptr;
    return report && std::any_of((*report)->steps.begin(), (*report)->steps.end(), [](const StepVerdictView& step) {
               return std::any_of(step.problems.begin(), step.problems.end(), isRewritten);
           });
}

bool isOver(const TaskView& task) { return task.state == "done" || task.state == "failed" || task.state == "canceled"; }
bool isAtWork(const TaskView& task) { return !isOver(task) && !task.interrupted; }

} // namespace deltascope::app
