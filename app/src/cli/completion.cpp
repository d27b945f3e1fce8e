#include "completion.h"

#include <fmt/format.h>

namespace deltascope::cli {

namespace {

std::string namesOf(const std::vector<CommandWords>& commands)
{
    std::string names;
    for (const CommandWords& command : commands)
        names += (names.empty() ? "" : " ") + command.name;
    return names;
}

/// Options that take the same words, as a shell's case tells command and option apart: "log --layout"|"show --layout".
std::map<std::vector<std::string>, std::string> casesOf(const std::vector<CommandWords>& commands)
{
    std::map<std::vector<std::string>, std::string> cases;
    for (const CommandWords& command : commands) {
        for (const auto& [option, words] : command.values) {
            std::string& pattern = cases[words];
            pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "" : "|", command.name, option);
        }
    }
    return cases;
}

std::string bash(const std::vector<CommandWords>& commands)
{
    std::string script = "_deltascope() {\n"
                         "    local word=\"${COMP_WORDS[COMP_CWORD]}\" command=\"${COMP_WORDS[1]}\"\n"
                         "    local before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                         "    [ \"$before\" = = ] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
                         "    [ \"$word\" = = ] && word=\"\"\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=( $(compgen -W \""
        + namesOf(commands)
        + "\" -- \"$word\") )\n"
          "        return\n"
          "    fi\n"
          "    case \"$command $before\" in\n";
    for (const auto& [words, pattern] : casesOf(commands))
        script += fmt::format("        {}) COMPREPLY=( $(compgen -W \"{}\" -- \"$word\") ); return ;;\n", pattern,
                              fmt::join(words, " "));
    script += "    esac\n"
              "    case \"$word\" in\n"
              "        -*) ;;\n"
              "        *) COMPREPLY=( $(compgen -f -- \"$word\") ); return ;;\n"
              "    esac\n"
              "    case \"$command\" in\n";
    for (const CommandWords& command : commands)
        script += fmt::format("        {}) COMPREPLY=( $(compgen -W \"{}\" -- \"$word\") ) ;;\n", command.name,
                              fmt::join(command.options, " "));
    return script + "    esac\n}\ncomplete -o filenames -F _deltascope deltascope\n";
}

std::string zsh(const std::vector<CommandWords>& commands)
{
    std::string script = "#compdef deltascope\n_deltascope() {\n    local -a commands=(\n";
    for (const CommandWords& command : commands)
        script += fmt::format("        '{}:{}'\n", command.name, command.summary);
    script += "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
              "    case \"$words[2] $words[CURRENT-1]\" in\n";
    for (const auto& [words, pattern] : casesOf(commands))
        script += fmt::format("        {}) compadd -- {}; return ;;\n", pattern, fmt::join(words, " "));
    script += "    esac\n    case \"$words[2]\" in\n";
    for (const CommandWords& command : commands)
        script +=
            fmt::format("        {}) _values option {} || _files ;;\n", command.name, fmt::join(command.options, " "));
    return script + "    esac\n    _files\n}\n_deltascope \"$@\"\n";
}

std::string fish(const std::vector<CommandWords>& commands)
{
    std::string script;
    for (const CommandWords& command : commands) {
        script += fmt::format("complete -c deltascope -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                              command.summary);
        for (const std::string& option : command.options) {
            const auto words = command.values.find(option);
            script += fmt::format(
                "complete -c deltascope -n '__fish_seen_subcommand_from {}' -l {}{}\n", command.name, option.substr(2),
                words == command.values.end() ? std::string()
                                              : fmt::format(" -x -a '{}'", fmt::join(words->second, " ")));
        }
    }
    return script;
}

}

std::optional<std::string> completionScript(std::string_view shell, const std::vector<CommandWords>& commands)
{
    if (shell == "bash")
        return bash(commands);
    if (shell == "zsh")
        return zsh(commands);
    if (shell == "fish")
        return fish(commands);
    return std::nullopt;
}

} // namespace deltascope::cli
