#include "acts/annotate/annotate_acts.h"

#include "acts/plan_parts.h"
#include "deltascope/app/command_line.h"
#include "view/step_address.h"

#include "deltascope/engine/beside.h"

#include <fmt/format.h>

namespace deltascope::app {

namespace {

using Kind = AnnotateRequest::Kind;

const ActField StepField { "step", ActField::Type::Step, "Step", "The step that it is about.", "", true };
const ActField NameField {
    "name", ActField::Type::Text, "Name", "A word: letters, digits, '.', '_' and '-'.", "", true
};
const ActField WhyField { "why", ActField::Type::Text, "Why", "One sentence for those who read the journal.", "" };

/// `command`: its words in front of the address; `rest`: behind it.
BoundPlan bound(const ActScene& scene, const AnnotateRequest& request, std::string title, const std::string& command,
                const StepView* step, const std::string& rest)
{
    BoundPlan plan;
    plan.view.title = std::move(title);
    const std::string address = step ? quotedStep(scene.source, *step) : quotedPath(scene.source.source.text());
    plan.view.cli = fmt::format("deltascope {} {}{}{}", command, address, rest, sourceOptions(scene.source));
    plan.view.steps.push_back({ "Write it beside the run, and into its journal", 0 });
    plan.start = [request](Service& service, const PlanView&, const std::string& by) {
        AnnotateRequest act = request;
        act.by = by;
        return service.annotate(act);
    };
    seal(plan.view, step ? fmt::format("{} {}", step->name, step->publishedUs) : std::string());
    return plan;
}

std::string reasonOption(const std::string& why) { return why.empty() ? std::string() : " --why " + quoted(why); }

Result<BoundPlan> planWord(const ActScene& scene, const CheckedArgs& args, Kind kind, const char* command)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    AnnotateRequest request;
    request.kind = kind;
    request.version = { scene.source, addressOf(*step) };
    request.name = args.text("name");
    request.text = args.text("why");
    if (!request.name.empty())
        DS_CHECK(checkRefName(request.name));
    const std::string name = request.name.empty() ? fmt::format("step-{}", step->step) : request.name;
    return bound(scene, request,
                 fmt::format("{} step {} of {} {}", kind == Kind::Pin ? "Pin" : "Call", step->step, scene.snapshot.name,
                             kind == Kind::Pin ? "as " + name : name),
                 command, step, (request.name.empty() ? "" : " " + quotedPath(name)) + reasonOption(request.text));
}

Result<BoundPlan> planRemoval(const ActScene& scene, const CheckedArgs& args, Kind kind, const char* command,
                              const char* option)
{
    AnnotateRequest request;
    request.kind = kind;
    request.version = { scene.source, {} };
    request.name = args.text("name");
    request.text = args.text("why");
    request.remove = true;
    return bound(scene, request,
                 fmt::format("Remove {} {} of {}", kind == Kind::Pin ? "the pin" : "the word", request.name,
                             scene.snapshot.name),
                 command, nullptr, " " + quotedPath(request.name) + option + reasonOption(request.text));
}

Result<BoundPlan> planNote(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(const StepView* step, findStep(*scene.snapshot.run, args.text("step")));
    AnnotateRequest request;
    request.kind = Kind::Note;
    request.version = { scene.source, addressOf(*step) };
    request.text = args.text("text");
    return bound(scene, request, fmt::format("Write a note about step {} of {}", step->step, scene.snapshot.name),
                 "note", step, " " + quoted(request.text));
}

}

Act refAct()
{
    return { { "ref", "Name this step", { StepField, NameField, WhyField } },
             [](const ActScene& scene, const CheckedArgs& args) { return planWord(scene, args, Kind::Ref, "ref"); } };
}

Act unrefAct()
{
    return { { "unref", "Remove the name", { NameField, WhyField } },
             [](const ActScene& scene, const CheckedArgs& args) {
                 return planRemoval(scene, args, Kind::Ref, "ref", " --remove");
             } };
}

Act pinAct()
{
    ActField name = NameField;
    name.isRequired = false;
    name.help = "A word; empty: that of the step.";
    return { { "pin", "Pin this step", { StepField, name, WhyField } },
             [](const ActScene& scene, const CheckedArgs& args) { return planWord(scene, args, Kind::Pin, "pin"); } };
}

Act unpinAct()
{
    return { { "unpin", "Remove the pin", { NameField, WhyField } },
             [](const ActScene& scene, const CheckedArgs& args) {
                 return planRemoval(scene, args, Kind::Pin, "unpin", "");
             } };
}

Act noteAct()
{
    return { { "note",
               "Write a note",
               { StepField, { "text", ActField::Type::Text, "Note", "What others should know.", "", true } } },
             planNote };
}

} // namespace deltascope::app
