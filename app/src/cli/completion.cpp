#include "completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace deltascope::cli {

namespace {

std::string namesOf(const std::vector<CommandWords>& commands)
{
    std::string names;
    for (const CommandWords& command : commands)
        names += (names.empty() ? "" : " ") + command.name;
    return names;
}

std::string bash(const std::vector<CommandWords>& commands)
{
    std::string script = "_deltascope() {\n"
                         "    local word=\"${COMP_WORDS[COMP_CWORD]}\" command=\"${COMP_WORDS[1]}\"\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=( $(compgen -W \""
        + namesOf(commands)
        + "\" -- \"$word\") )\n"
          "        return\n"
          "    fi\n"
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
              "    case \"$words[2]\" in\n";
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
        for (const std::string& option : command.options)
            script += fmt::format("complete -c deltascope -n '__fish_seen_subcommand_from {}' -l {}\n", command.name,
                                  option.substr(2));
    }
    return script;
}

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({ row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]) });
            diagonal = above;
        }
    }
    return row.back();
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

std::optional<std::string> nearestWord(std::string_view typed, const std::vector<std::string>& words)
{
    std::optional<std::string> best;
    std::size_t least = std::max<std::size_t>(2, typed.size() / 3) + 1;
    for (const std::string& word : words) {
        const std::size_t distance = editDistance(typed, word);
        if (distance < least) {
            least = distance;
            best = word;
        }
    }
    return best;
}

} // namespace deltascope::cli
