#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deltascope::app {

/// Numbers for people.
std::string countText(std::uint64_t count); ///< "92,352"
std::string counted(std::uint64_t count, std::string_view noun); ///< "1 step", "2,048 steps"

} // namespace deltascope::app
