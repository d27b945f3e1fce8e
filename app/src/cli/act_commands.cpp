#include "act_commands.h"

#include "act_confirmation.h"
#include "exit_codes.h"
#include "job_console.h"
#include "json_output.h"
#include "text.h"

#include "deltascope/app/command_line.h"
#include "deltascope/app/view/json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <variant>

namespace deltascope::cli {

namespace {

constexpr std::string_view StepField = "step"; ///< stands in the address

std::string optionOf(const app::ActField& field)
{
    std::string option = "--" + std::string(field.name);
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

/// "A word: letters and digits." as the help of an option has it: "a word: letters and digits".
std::string optionHelp(std::string_view help)
{
    std::string text(help.substr(0, help.find_last_not_of('.') + 1));
    if (!text.empty())
        text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    return text;
}

void addField(CLI::App& command, const app::ActField& field, Options& options)
{
    const std::string name(field.name);
    if (field.type == app::ActField::Type::Flag) {
        command.add_flag(optionOf(field), options.actFlags[name], optionHelp(field.help));
        return;
    }
    CLI::Option* const option =
        command.add_option(field.isOperand ? name : optionOf(field), options.actTexts[name], optionHelp(field.help));
    option->required(field.isRequired);
    if (!field.choices.empty())
        option->check(CLI::IsMember(std::vector<std::string>(field.choices.begin(), field.choices.end())));
}

CLI::App* addAct(CLI::App& program, const app::ActInfo& info, Options& options)
{
    CLI::App* const command = program.add_subcommand(std::string(info.kind), std::string(info.help));
    const app::ActField* const step = info.field(StepField);
    if (step)
        command->add_option("version", options.source, "SOURCE@STEP: " + optionHelp(step->help))->required();
    else if (info.namesRun)
        command->add_option("source", options.source, "folder or URI of the run")->required();
    for (const app::ActField& field : info.fields) {
        if (field.name != StepField)
            addField(*command, field, options);
    }
    CLI::Option* const dryRun = addPlanOptions(*command, options);
    command->add_flag("--yes", options.yes, "do it")->excludes(dryRun)->excludes(command->get_option("--plan"));
    if (info.namesRun)
        command->add_option("--confirm", options.confirm, "do it, if the run has this name")
            ->excludes(dryRun)
            ->excludes(command->get_option("--plan"));
    return command;
}

const app::ActInfo* findInfo(const std::string& command)
{
    static const std::vector<app::ActInfo> infos = app::actInfos();
    const auto found = std::find_if(infos.begin(), infos.end(), [&](const app::ActInfo& info) {
        return info.way != app::ActWay::OwnCommand && info.kind == command;
    });
    return found == infos.end() ? nullptr : &*found;
}

/// What the options ask for. Errors: Usage (a step where a whole run is meant).
Result<app::ActCall> callOf(const app::ActInfo& info, const Options& options)
{
    const app::VersionRequest version = info.namesRun ? options.versionRequest(options.source) : app::VersionRequest();
    app::ActCall call { version.source, { std::string(info.kind), {} }, {}, {} };
    if (info.namesRun && !info.field(StepField))
        DS_CHECK(options.expectWholeRun(std::string(info.kind)));
    for (const app::ActField& field : info.fields) {
        const std::string name(field.name);
        if (name == StepField)
            call.act.args[name] = version.version.empty() ? std::string("latest") : version.version;
        else if (field.type == app::ActField::Type::Flag)
            call.act.args[name] = options.actFlags.at(name);
        else if (field.isRequired || !options.actTexts.at(name).empty())
            call.act.args[name] = options.actTexts.at(name);
    }
    return call;
}

/// What the user types to carry out the plan that was made.
std::string doIt(const app::ActInfo& info, const Options& options)
{
    std::string line = fmt::format("deltascope {}", info.kind);
    if (info.namesRun)
        line += " " + app::quotedPath(options.source);
    std::string behind;
    for (const app::ActField& field : info.fields) {
        const auto text = options.actTexts.find(field.name);
        if (field.type == app::ActField::Type::Flag && options.actFlags.at(std::string(field.name)))
            behind += " " + optionOf(field);
        else if (text != options.actTexts.end() && !text->second.empty() && field.isOperand)
            line += " " + app::quotedPath(text->second);
        else if (text != options.actTexts.end() && !text->second.empty())
            behind += fmt::format(" {} {}", optionOf(field), app::quoted(text->second));
    }
    line += behind + (info.namesRun ? app::sourceOptions(options.sourceRequest()) : std::string());
    if (!options.planFile.empty())
        return line + " --apply " + app::quotedPath(options.planFile);
    return info.way == app::ActWay::Confirmed ? line + " --yes" : line;
}

Result<app::JobResult> resultOf(app::Service& service, const app::ActCall& call, const Style& style)
{
    const std::unique_ptr<app::EventFeed> feed = service.subscribe({});
    return waitForJob(service, *feed, service.start(call), style);
}

/// A view that an act of these commands ends with: it has words of its own.
template <class View>
concept EndsAct = requires(const View& view, const Style& style)
{
    actText(view, std::string(), style);
};

/// Does `act` with the view that an act ends with.
template <class Do> auto withAct(const app::JobResult& result, const Do& act)
{
    using Outcome = decltype(act(std::declval<const app::RollBackView&>()));
    return std::visit(
        [&](const auto& view) -> Outcome {
            if constexpr (EndsAct<std::decay_t<decltype(*view)>>)
                return act(*view);
            else
                return fail(Code::Internal, "the act ended with something else");
        },
        result);
}

/// Name of the run that an act is about; empty: it is about none.
template <class View> std::string runOf(const View& view) { return view.run; }
std::string runOf(const app::DiscardView&) { return {}; }

/// Of an act that ended.
template <class View> int statusOf(const View&) { return Success; }
int statusOf(const app::DiscardView& view)
{
    const auto refused = std::find_if(view.leftovers.begin(), view.leftovers.end(),
                                      [&](const auto& one) { return view.isDone && one.planned && one.problem; });
    return refused == view.leftovers.end() ? Success : exitFor(refused->problem->code);
}

/// `command`: as actText() takes it.
Result<int> print(const app::Service& service, const app::JobResult& result, const std::string& command,
                  const Options& options, const Style& style)
{
    return withAct(result, [&](const auto& view) -> Result<int> {
        if (options.json)
            printJson(view, backendKeys(service));
        else
            writeOut(actText(view, command, style));
        return statusOf(view);
    });
}

Result<int> planAndRun(app::Service& service, const app::ActInfo& info, const Options& options, const Style& style)
{
    DS_TRY(app::ActCall call, callOf(info, options));
    DS_TRY(const app::JobResult planned, resultOf(service, call, style));
    DS_TRY(const bool isMeant, withAct(planned, [&](const auto& view) -> Result<bool> {
               call.planHash = view.plan.hash;
               call.planned = view.plan.exact;
               if (!options.planFile.empty())
                   DS_CHECK(writePlan(options.planFile, app::toJson(view)));
               return confirmAct(options, runOf(view), app::toJson(view), info.way);
           }));
    if (!isMeant)
        return print(service, planned, options.dryRun ? std::string() : doIt(info, options), options, style);
    DS_TRY(const app::JobResult done, resultOf(service, call, style));
    return print(service, done, {}, options, style);
}

Result<int> list(app::Service& service, const std::string& command, const Options& options, const Style& style)
{
    DS_CHECK(options.expectWholeRun(command));
    DS_TRY(const auto view, runJob<app::AnnotationsView>(service, style, [&](app::Service& s) {
               return s.annotations(options.sourceRequest());
           }));
    const std::string text = command == "journal" ? journalText(*view, style) : refsText(*view, style);
    writeOut(options.json ? app::toJson(*view) + "\n" : text);
    return Success;
}

}

CLI::Option* addPlanOptions(CLI::App& command, Options& options)
{
    CLI::Option* const dryRun = command.add_flag("--dry-run", options.dryRun, "show the plan and do nothing");
    CLI::Option* const plan =
        command.add_option("--plan", options.planFile, "write the plan into this new file and do nothing");
    command.add_option("--apply", options.applyFile, "do what this plan says, if that is still what would be done")
        ->excludes(dryRun)
        ->excludes(plan);
    return dryRun;
}

std::vector<CLI::App*> describeActs(CLI::App& program, Options& options)
{
    std::vector<CLI::App*> commands {
        program.add_subcommand("refs", "the words and pins that the versions of a run have"),
        program.add_subcommand("journal", "who did what to a run, and when"),
    };
    for (CLI::App* const command : commands)
        command->add_option("source", options.source, "folder or URI of the run")->required();
    for (const app::ActInfo& info : app::actInfos()) {
        if (info.way == app::ActWay::OwnCommand)
            continue;
        CLI::App* const command = addAct(program, info, options);
        if (info.namesRun)
            commands.push_back(command);
    }
    return commands;
}

bool isActCommand(const std::string& command) { return findInfo(command) || command == "refs" || command == "journal"; }

Result<int> runAct(app::Service& service, const std::string& command, const Options& options, const Style& style)
{
    const app::ActInfo* const info = findInfo(command);
    return info ? planAndRun(service, *info, options, style) : list(service, command, options, style);
}

} // namespace deltascope::cli
