#pragma once

#include <cstddef>

namespace deltascope {

/// How many components below the folder of a step weights are looked for where nothing else is said, and at most.
inline constexpr std::size_t DefaultSearchDepth = 4;
inline constexpr std::size_t MostSearchDepth = 16;

} // namespace deltascope
