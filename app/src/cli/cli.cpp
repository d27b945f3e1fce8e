#include "cli.h"

#include "commands.h"
#include "examples.h"
#include "exit_codes.h"

#include "deltascope/base/nearest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

std::vector<CommandWords> wordsOf(CLI::App& program)
{
    std::vector<CommandWords> words;
    for (const CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
        CommandWords entry { command->get_name(), command->get_description(), {}, {} };
        for (const CLI::App* from : { command, static_cast<const CLI::App*>(&program) }) {
            for (const CLI::Option* option : from->get_options()) {
                for (const std::string& name : option->get_lnames()) {
                    entry.options.push_back("--" + name);
                    if (std::vector<std::string> values = valuesOf(entry.name, name); !values.empty())
                        entry.values[entry.options.back()] = std::move(values);
                }
            }
        }
        words.push_back(std::move(entry));
    }
    return words;
}

std::string startText(const CLI::App& program)
{
    std::string text = program.get_description() + "\n\nBegin with\n" + examplesText(firstExamples()) + "\nCommands\n";
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        text += fmt::format("  {:<12} {}\n", command->get_name(), command->get_description());
    return text + "\n\"deltascope COMMAND --help\" shows what a command takes, with examples.\n";
}

/// "help COMMAND", as people type it, is what its --help says; what is no command is refused as ever.
std::vector<std::string> meant(const std::vector<std::string>& given, const std::vector<CommandWords>& commands)
{
    if (given.size() != 2 || given.front() != "help")
        return given;
    const bool isCommand = std::any_of(commands.begin(), commands.end(),
                                       [&](const CommandWords& command) { return command.name == given.back(); });
    return isCommand ? std::vector<std::string> { given.back(), "--help" } : std::vector { given.back() };
}

/// "did you mean X?" with what stands before it; empty if no word is near.
std::string guess(std::string_view before, const std::string& typed, const std::vector<std::string>& words)
{
    const std::vector<std::string> near = nearestWords(typed, { words.begin(), words.end() }, 1);
    return near.empty() ? std::string() : fmt::format("{}did you mean {}?", before, near.front());
}

/// What more can be said of arguments that the parser stumbled over: an unknown command, and the known word near it.
std::string hintFor(const std::vector<std::string>& arguments, const std::vector<CommandWords>& commands)
{
    std::vector<std::string> names;
    const CommandWords* chosen = nullptr;
    for (const CommandWords& command : commands)
        names.push_back(command.name);
    for (const std::string& argument : arguments) {
        if (!chosen && !argument.starts_with("-")) {
            const auto at = std::find(names.begin(), names.end(), argument);
            if (at == names.end()) {
                return fmt::format("; {} is no command{}", argument, guess(", ", argument, names));
            }
            chosen = &commands[static_cast<std::size_t>(at - names.begin())];
        } else if (chosen && argument.starts_with("--")) {
            const std::string option = argument.substr(0, argument.find('='));
            if (std::find(chosen->options.begin(), chosen->options.end(), option) != chosen->options.end())
                continue;
            return guess("; ", option, chosen->options);
        }
    }
    return {};
}

/// In words of ours where those of the parser are about types.
std::string textOf(const CLI::ParseError& problem)
{
    const std::string text = problem.what();
    constexpr std::string_view Unfit = "Could not convert: ";
    constexpr std::string_view Is = " = ";
    const std::size_t is = text.find(Is);
    if (!text.starts_with(Unfit) || is == std::string::npos)
        return text;
    return fmt::format("{} does not take {}", text.substr(Unfit.size(), is - Unfit.size()),
                       text.substr(is + Is.size()));
}

}

int run(const std::vector<std::string>& arguments)
{
    Options options;
    CLI::App program("Deltascope shows, proves and rebuilds the weight deltas that RL trainers publish.", "deltascope");
    describe(program, options);
    if (arguments.empty() || arguments == std::vector<std::string> { "help" }) {
        writeOut(startText(program));
        return Success;
    }
    const std::vector<CommandWords> words = wordsOf(program);
    const std::vector<std::string> asked = meant(arguments, words);
    try {
        program.parse(std::vector<std::string>(asked.rbegin(), asked.rend()));
    } catch (const CLI::CallForHelp&) {
        const std::vector<CLI::App*> chosen = program.get_subcommands();
        writeOut(chosen.empty() ? program.help() : chosen.front()->help(program.get_name()));
        return Success;
    } catch (const CLI::CallForVersion&) {
        writeOut("deltascope " DELTASCOPE_VERSION "\n");
        return Success;
    } catch (const CLI::ParseError& problem) {
        const std::string text = textOf(problem) + hintFor(asked, words);
        const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
        return report(Error { Code::Usage, text, {}, {}, "deltascope COMMAND --help shows what it takes" }, json);
    }
    using Choice = Style::ColorChoice;
    const Choice choice = options.plain || options.color == "never" ? Choice::Never
        : options.color == "always"                                 ? Choice::Always
                                                                    : Choice::Auto;
    return runCommand(program.get_subcommands().front()->get_name(), options,
                      Style::detect(choice, options.quiet, options.plain), words);
}

} // namespace deltascope::cli
