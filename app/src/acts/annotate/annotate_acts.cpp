#include "acts/annotate/annotate_acts.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "service/act_plan_view.h"
#include "service/act_source.h"
#include "view/annotations_description.h"
#include "view/step_address.h"

#include "deltascope/engine/annotate.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

using Kind = Annotation::Kind;

const ActField StepField { "step", ActField::Type::Step, "Step", "The step that it is about.", "", true };
const ActField NameField { .name = "name",
                           .type = ActField::Type::Text,
                           .label = "Name",
                           .help = "A word: letters, digits, '.', '_' and '-'.",
                           .standard = "",
                           .isRequired = true,
                           .isOperand = true };
const ActField WhyField { "why", ActField::Type::Text, "Why", "One sentence for those who read the journal.", "" };

std::string quotedSource(const ActScene& scene, const StepView* step)
{
    return step ? quotedStep(scene.source, *step) : quotedPath(scene.source.source.text());
}

/// `command`: its words in front of the address; `rest`: behind it.
BoundPlan bound(const ActScene& scene, ActRequest call, std::string title, const char* command, const StepView* step,
                const std::string& rest)
{
    BoundPlan plan;
    plan.view.title = std::move(title);
    plan.view.cli =
        fmt::format("deltascope {} {}{}{}", command, quotedSource(scene, step), rest, sourceOptions(scene.source));
    plan.call.act = std::move(call);
    return plan;
}

std::string reasonOption(const std::string& why) { return why.empty() ? std::string() : " --why " + quoted(why); }

Result<BoundPlan> planWord(const ActScene& scene, const CheckedArgs& args, Kind kind)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    const std::string given = args.text("name");
    if (!given.empty())
        DS_CHECK(checkRefName(given));
    const bool isPin = kind == Kind::Pin;
    const std::string name = given.empty() ? fmt::format("step-{}", step->step) : given;
    const char* const command = isPin ? "pin" : "ref";
    return bound(scene, { command, { { "step", addressOf(*step) }, { "name", name }, { "why", args.text("why") } } },
                 fmt::format("{} step {} of {} {}", isPin ? "Pin" : "Call", step->step, scene.snapshot.name,
                             isPin ? "as " + name : name),
                 command, step, (given.empty() ? "" : " " + quotedPath(given)) + reasonOption(args.text("why")));
}

Result<BoundPlan> planRemoval(const ActScene& scene, const CheckedArgs& args, Kind kind)
{
    const std::string name = args.text("name");
    const char* const command = kind == Kind::Pin ? "unpin" : "unref";
    return bound(
        scene, { command, { { "name", name }, { "why", args.text("why") } } },
        fmt::format("Remove {} {} of {}", kind == Kind::Pin ? "the pin" : "the word", name, scene.snapshot.name),
        command, nullptr, " " + quotedPath(name) + reasonOption(args.text("why")));
}

Result<BoundPlan> planNote(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    const std::string text = args.text("text");
    return bound(scene, { "note", { { "step", addressOf(*step) }, { "text", text } } },
                 fmt::format("Write a note about step {} of {}", step->step, scene.snapshot.name), "note", step,
                 " " + quoted(text));
}

Result<JobResult> runAnnotation(const ActWork& work, const Annotation& annotation, TaskContext& task)
{
    DS_TRY(const ActSource source, openActSource(work.bench, work.call.source, false));
    const ChooseVersion choose = work.chosen(task);
    AnnotatedView view;
    view.source = source.store->uri();
    view.run = source.name;
    if (work.isPlan()) {
        DS_TRY(AnnotationPlan plan, planAnnotation(work.bench, source.store, source.options, choose, annotation, task));
        view.text = std::move(plan.text);
        view.wasThere = plan.isDone;
        view.plan = makeActPlanView(plan.act);
    } else {
        DS_TRY(Annotated done,
               annotate(work.bench, source.store, source.options, choose, annotation, work.how(), task));
        view.text = std::move(done.text);
        view.wasThere = done.wasThere;
        view.isLocal = done.isLocal;
        view.isDone = true;
    }
    return JobResult(std::make_shared<const AnnotatedView>(std::move(view)));
}

Result<JobResult> runWord(const ActWork& work, Kind kind, bool remove, TaskContext& task)
{
    return runAnnotation(work, { kind, work.args.text("name"), work.args.text("why"), remove }, task);
}

void takeAnnotation(PlanView& plan, const JobResult& planned)
{
    const AnnotatedView& found = *std::get<std::shared_ptr<const AnnotatedView>>(planned);
    takeActPlan(plan, found.plan);
    for (const auto& [word, change] : found.plan.effects)
        plan.facts.push_back({ word, change });
    if (found.wasThere)
        plan.warnings.emplace_back("It is so already: nothing is written.");
    else
        plan.steps.push_back({ "Write it beside the run, and into its journal", 0 });
}

/// An act that is planned and run by these.
Act annotation(ActInfo info, decltype(Act::plan) plan, decltype(Act::run) run)
{
    return { std::move(info), plan, reportOf<AnnotatedView>(), run, takeAnnotation };
}

}

Act refAct()
{
    return annotation(
        { "ref",
          "Name this step",
          "give a version a word that every address understands (SOURCE@good), or move it",
          { StepField, NameField, WhyField } },
        [](const ActScene& scene, const CheckedArgs& args) { return planWord(scene, args, Kind::Ref); },
        [](const ActWork& work, TaskContext& task) { return runWord(work, Kind::Ref, false, task); });
}

Act unrefAct()
{
    return annotation(
        { "unref", "Remove the name", "take a word back", { NameField, WhyField } },
        [](const ActScene& scene, const CheckedArgs& args) { return planRemoval(scene, args, Kind::Ref); },
        [](const ActWork& work, TaskContext& task) { return runWord(work, Kind::Ref, true, task); });
}

Act pinAct()
{
    ActField name = NameField;
    name.isRequired = false;
    name.help = "A word; empty: that of the step.";
    return annotation(
        { "pin", "Pin this step", "say that a version is to be kept (SOURCE@pin/NAME)", { StepField, name, WhyField } },
        [](const ActScene& scene, const CheckedArgs& args) { return planWord(scene, args, Kind::Pin); },
        [](const ActWork& work, TaskContext& task) { return runWord(work, Kind::Pin, false, task); });
}

Act unpinAct()
{
    return annotation(
        { "unpin", "Remove the pin", "take a pin back", { NameField, WhyField } },
        [](const ActScene& scene, const CheckedArgs& args) { return planRemoval(scene, args, Kind::Pin); },
        [](const ActWork& work, TaskContext& task) { return runWord(work, Kind::Pin, true, task); });
}

Act noteAct()
{
    const ActField text { .name = "text",
                          .type = ActField::Type::Text,
                          .label = "Note",
                          .help = "What others should know.",
                          .standard = "",
                          .isRequired = true,
                          .isOperand = true };
    return annotation(
        { "note", "Write a note", "write a note about a version; log and pages show it", { StepField, text } },
        planNote, [](const ActWork& work, TaskContext& task) {
            return runAnnotation(work, { Kind::Note, {}, work.args.text("text"), false }, task);
        });
}

} // namespace deltascope::app
