#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::cli {

struct CommandWords {
    std::string name;
    std::string summary;
    std::vector<std::string> options; ///< "--base"
    std::map<std::string, std::vector<std::string>> values; ///< by option, of those that take one of some words
};

/// A completion script for bash, zsh or fish; nothing for another shell.
std::optional<std::string> completionScript(std::string_view shell, const std::vector<CommandWords>& commands);

} // namespace deltascope::cli
