#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::cli {

struct CommandWords {
    std::string name;
    std::string summary;
    std::vector<std::string> options; ///< "--base"
};

/// A completion script for bash, zsh or fish; nothing for another shell.
std::optional<std::string> completionScript(std::string_view shell, const std::vector<CommandWords>& commands);

/// The word that was probably meant, or nothing if none is near.
std::optional<std::string> nearestWord(std::string_view typed, const std::vector<std::string>& words);

} // namespace deltascope::cli
