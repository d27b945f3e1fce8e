#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace deltascope::test {

/// A text as the name of a test, in which GoogleTest takes letters, digits and '_' alone.
inline std::string testName(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return text;
}

} // namespace deltascope::test
