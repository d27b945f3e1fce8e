#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deltascope {

/// The first time stamp of a text, in microseconds since 1970: "2026-08-21 12:34:56,789", ISO 8601, "08-21 12:34:56"
/// without a year (then the last such day before `nowUs`), or seconds since 1970. Where no zone is given it is the one
/// of this process. Anything else, and dates that do not exist, are nothing.
std::optional<std::int64_t> findLogTime(std::string_view text, std::int64_t nowUs);

} // namespace deltascope
