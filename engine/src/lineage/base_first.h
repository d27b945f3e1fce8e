#pragma once

#include <string_view>

namespace deltascope {

/// What to do where the first digest fails behind a base from outside: another base explains it as well as damage.
inline constexpr std::string_view BaseFirst =
    "Give the checkpoint that the run began with as --base; if it is that one, fetch the object again.";

} // namespace deltascope
