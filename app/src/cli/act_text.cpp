#include "text.h"

#include "deltascope/app/view/act_words.h"
#include "deltascope/app/view/evidence_words.h"

#include <fmt/format.h>

namespace deltascope::cli {

namespace {

constexpr std::size_t MostObjects = 12;

std::string objectsText(const char* what, const std::vector<app::PlannedObjectView>& objects, const Style& style)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(objects.size(), MostObjects); ++i) {
        const app::PlannedObjectView& object = objects[i];
        text += fmt::format("  {} {}{}", what, object.store.empty() ? "" : safe(object.store) + "/", safe(object.key));
        text += object.bytes > 0 ? paint(style, Paint::Dim, "  " + bytesText(object.bytes)) + "\n" : "\n";
    }
    if (objects.size() > MostObjects)
        text += paint(style, Paint::Dim, fmt::format("  … {} more with --json\n", objects.size() - MostObjects));
    return text;
}

std::string planText(const app::ActPlanView& plan, const Style& style)
{
    std::string text = objectsText("read  ", plan.reads, style);
    text += objectsText("write ", plan.writes, style) + objectsText("delete", plan.deletes, style);
    if (plan.deletes.empty())
        text += "  nothing is overwritten or deleted\n";
    if (const std::string beside = app::besideWords(plan); !beside.empty())
        text += paint(style, Paint::Dim, "  beside the run: " + safe(beside)) + "\n";
    for (const app::ProblemView& warning : plan.warnings)
        text += problemText(warning, style);
    for (const std::string& unknown : plan.unknown)
        text += "  not known here: " + safe(unknown) + "\n";
    return text;
}

std::string commandText(const std::string& command)
{
    return command.empty() ? std::string() : "nothing is done yet: " + safe(command) + " does it\n";
}

}

std::string actText(const app::RollBackView& view, const std::string& command, const Style& style)
{
    if (view.wasThere)
        return fmt::format("step {} restores step {} already; nothing is written\n", view.step, view.to);
    if (view.isDone)
        return paint(style, Paint::Bold, fmt::format("step {} restores step {}", view.step, view.to))
            + fmt::format(": {} changed back, and it reads back to the state of step {}\n"
                          "who has loaded it is not known here; deltascope undo takes it back\n",
                          counted(view.changedElements, "element"), view.to);
    std::string text = paint(style, Paint::Bold, fmt::format("step {} would restore step {}", view.step, view.to))
        + fmt::format(", behind step {}\n", view.from);
    text += fmt::format("  step {} is {}; {} of {} in {} differ from step {}\n", view.to,
                        app::evidenceWords(view.evidence), countText(view.changedElements),
                        counted(view.totalElements, "element"), counted(view.changedTensors, "tensor"), view.from);
    text += planText(view.plan, style);
    return text + commandText(command);
}

std::string actText(const app::BranchView& view, const std::string& command, const Style& style)
{
    const std::string into = safe(view.into);
    if (view.wasThere)
        return fmt::format("{} begins with the state of step {} already; nothing is written\n", into, view.from);
    if (view.isDone)
        return paint(style, Paint::Bold, fmt::format("{} begins with the state of step {}", into, view.from))
            + ", and it reads back to that state\n";
    std::string text =
        paint(style, Paint::Bold, fmt::format("{} would begin with the state of step {}", into, view.from))
        + fmt::format(", as its step {}\n  step {} is {}; its state has {}\n", view.step, view.from,
                      app::evidenceWords(view.evidence), bytesText(view.stateBytes));
    text += planText(view.plan, style);
    return text + commandText(command);
}

std::string actText(const app::DiscardView& view, const std::string& command, const Style& style)
{
    if (view.leftovers.empty())
        return fmt::format("no leftovers to discard in {}\n", safe(view.folder));
    std::string text;
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (const app::DiscardedView& one : view.leftovers) {
        const bool goes = !one.problem;
        text += fmt::format("{:>10}  {}\n", one.planned ? bytesText(one.bytes) : "", safe(one.path));
        text += paint(style, Paint::Dim,
                      fmt::format("{:>10}  for {}, {}\n", "", safe(one.destination),
                                  !goes             ? safe(one.problem->text)
                                      : view.isDone ? "removed"
                                                    : "goes"));
        bytes += goes ? one.bytes : 0;
        count += goes ? 1 : 0;
    }
    text += fmt::format("{} of {} {}, {}\n", count, counted(view.leftovers.size(), "leftover"),
                        view.isDone ? "removed" : "would be removed", bytesText(bytes));
    if (view.isDone)
        return text;
    for (const std::string& unknown : view.plan.unknown)
        text += "  not known here: " + safe(unknown) + "\n";
    return text + (count > 0 ? commandText(command) : "");
}

std::string actText(const app::AnnotatedView& view, const std::string& command, const Style& style)
{
    const std::string text = safe(view.text);
    if (view.wasThere)
        return text + "\nit is so already" + (view.isLocal ? ", on this machine only" : "") + "; nothing is written\n"
            + (view.isDone ? "" : commandText(command));
    if (view.isDone)
        return text + (view.isLocal ? "\non this machine only: nobody else sees it\n" : "\n");
    return paint(style, Paint::Bold, text) + "\n" + planText(view.plan, style) + commandText(command);
}

std::string plannedPublicationText(const app::PublishView& view, const std::string& command, const Style& style)
{
    std::string text;
    for (const app::PlannedObjectView& object : view.plan.writes)
        text += paint(style, Paint::Bold, fmt::format("{} would be published", safe(object.key))) + "\n";
    if (text.empty())
        text = paint(style, Paint::Bold, "nothing would be published") + "\n";
    text += view.newest ? fmt::format("  the newest step is {}", *view.newest) : "  the run is empty";
    text += fmt::format("; the state that is published has {}\n", bytesText(view.stateBytes));
    for (const std::string& notice : view.notices)
        text += "  " + safe(notice) + "\n";
    return text + planText(view.plan, style) + commandText(command);
}

} // namespace deltascope::cli
