#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deltascope::cli {

/// A command line as it is typed, and what it does.
struct Example {
    std::string_view line;
    std::string_view meaning;
};

/// The first commands of a new user.
const std::vector<Example>& firstExamples();
/// Of one command; empty for one that is none.
const std::vector<Example>& examplesOf(std::string_view command);

/// A line for each, the meanings below each other where that fits.
std::string examplesText(const std::vector<Example>& examples);

} // namespace deltascope::cli
