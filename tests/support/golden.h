#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// The cases of tests/golden.

namespace deltascope::test {

inline std::string goldenPath(std::string_view path)
{
    return std::string(DELTASCOPE_GOLDEN_DIR).append("/").append(path);
}

/// The truth about a case.
inline nlohmann::json expectedOf(std::string_view name)
{
    std::ifstream file(goldenPath(name) + "/expected.json");
    return nlohmann::json::parse(file);
}

} // namespace deltascope::test
