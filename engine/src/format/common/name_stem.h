#pragma once

#include <string_view>

namespace deltascope {

/// What stands in front of the last number in the name of a version: "aa/deltas/step_" of
/// "aa/deltas/step_000012.safetensors". Versions of one kind and run share it. A name without a number is its own.
inline std::string_view nameBeforeNumber(std::string_view name) noexcept
{
    constexpr std::string_view Digits = "0123456789";
    const std::size_t last = name.find_last_of(Digits);
    if (last == std::string_view::npos)
        return name;
    const std::size_t before = name.substr(0, last).find_last_not_of(Digits);
    return name.substr(0, before == std::string_view::npos ? 0 : before + 1);
}

} // namespace deltascope
