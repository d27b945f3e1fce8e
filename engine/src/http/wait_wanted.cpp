#include "header_text.h"

#include <algorithm>
#include <curl/curl.h>

namespace deltascope::http {

namespace {

using SystemTime = std::chrono::system_clock::time_point;
using Wait = std::optional<std::chrono::seconds>;

constexpr std::int64_t LongestWait = std::int64_t { 366 } * 86'400; ///< more is no time that anybody waits

Wait secondsOf(std::string_view digits)
{
    const auto number = parseNumber(trimmed(digits));
    return number ? Wait(std::clamp<std::int64_t>(*number, 0, LongestWait)) : std::nullopt;
}

std::optional<SystemTime> dateOf(std::string_view text)
{
    const time_t seconds = curl_getdate(std::string(text).c_str(), nullptr);
    return seconds < 0 ? std::nullopt : std::optional(std::chrono::system_clock::from_time_t(seconds));
}

Wait retryAfter(const Headers& headers, SystemTime now)
{
    const auto value = headers.find("Retry-After");
    if (!value)
        return std::nullopt;
    if (const Wait seconds = secondsOf(*value))
        return seconds;
    const auto until = dateOf(*value);
    if (!until)
        return std::nullopt;
    if (const auto date = headers.find("Date")) // its clock and ours may differ
        now = dateOf(*date).value_or(now);
    const auto wait = std::chrono::ceil<std::chrono::seconds>(*until - now);
    return std::clamp(wait, std::chrono::seconds(0), std::chrono::seconds(LongestWait));
}

/// The value of a parameter in `"api";r=0;t=55` or `limit=9, remaining=0, reset=55`.
std::optional<std::string_view> parameter(std::string_view text, std::string_view name)
{
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(",;"), text.size());
        const std::string_view part = trimmed(text.substr(0, end));
        const std::size_t equals = part.find('=');
        if (equals != std::string_view::npos && isSameName(part.substr(0, equals), name))
            return part.substr(equals + 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

/// Nothing is left until `reset`. Adds a second, because servers round it to whole seconds.
Wait untilReset(std::optional<std::string_view> remaining, std::optional<std::string_view> reset)
{
    if (!remaining || !reset || secondsOf(*remaining) != std::chrono::seconds(0))
        return std::nullopt;
    const Wait wait = secondsOf(*reset);
    return wait ? Wait(*wait + std::chrono::seconds(1)) : std::nullopt;
}

/// The longest wait of a list of limits.
Wait rateLimit(std::string_view text)
{
    Wait longest = untilReset(parameter(text, "remaining"), parameter(text, "reset"));
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view one = text.substr(0, end);
        longest = std::max(longest, untilReset(parameter(one, "r"), parameter(one, "t")));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return longest;
}

}

Wait waitWanted(const Headers& headers, SystemTime now)
{
    const Wait asked = retryAfter(headers, now);
    const Wait limited = rateLimit(headers.find("RateLimit").value_or(""));
    const Wait counted = untilReset(headers.find("RateLimit-Remaining"), headers.find("RateLimit-Reset"));
    return std::max({ asked, limited, counted });
}

} // namespace deltascope::http
