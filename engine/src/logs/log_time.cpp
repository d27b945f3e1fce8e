#include "logs/log_time.h"

#include "deltascope/base/ascii.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace deltascope {

namespace {

constexpr std::int64_t Million = 1'000'000;
constexpr std::int64_t DaySeconds = 86'400;
constexpr std::size_t MostPrefixBytes = 512; ///< no logger puts its time further back

/// Reads a text from its front. Once something is not there, nothing more is.
class Scan {
public:
    explicit Scan(std::string_view text)
        : m_text(text)
    {
    }

    bool sound() const { return m_sound; }
    std::string_view rest() const { return m_text; }
    bool at(std::string_view any) const
    {
        return !m_text.empty() && any.find(m_text.front()) != std::string_view::npos;
    }

    bool skip(std::string_view any)
    {
        m_sound = m_sound && at(any);
        if (m_sound)
            m_text.remove_prefix(1);
        return m_sound;
    }

    /// A number of exactly so many digits, from `least` to `most`.
    int number(std::size_t digits, int least, int most)
    {
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            m_sound = m_sound && i < m_text.size() && isDigit(m_text[i]);
            if (m_sound)
                value = value * 10 + (m_text[i] - '0');
        }
        m_sound = m_sound && value >= least && value <= most;
        if (m_sound)
            m_text.remove_prefix(digits);
        return value;
    }

    /// Microseconds behind a point or comma; any number of digits.
    std::int64_t fraction()
    {
        if (m_text.size() < 2 || !at(".,") || !isDigit(m_text[1]))
            return 0;
        m_text.remove_prefix(1);
        std::int64_t us = 0;
        for (std::int64_t unit = Million / 10; !m_text.empty() && isDigit(m_text.front()); unit /= 10) {
            us += unit * (m_text.front() - '0');
            m_text.remove_prefix(1);
        }
        return us;
    }

private:
    std::string_view m_text;
    bool m_sound = true;
};

struct Clock {
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::int64_t us = 0;
};

Clock readClock(Scan& scan)
{
    Clock clock;
    clock.hour = scan.number(2, 0, 23);
    scan.skip(":");
    clock.minute = scan.number(2, 0, 59);
    scan.skip(":");
    clock.second = scan.number(2, 0, 60);
    clock.us = scan.sound() ? scan.fraction() : 0;
    return clock;
}

/// Seconds east of Greenwich: "Z", "+02:00", "-0700", also behind one space. Nothing where none is said.
std::optional<std::int64_t> readZone(Scan scan)
{
    if (scan.at("Z"))
        return 0;
    if (scan.at(" "))
        scan.skip(" ");
    const bool west = scan.at("-");
    scan.skip("+-");
    const int hours = scan.number(2, 0, 15);
    if (scan.sound() && scan.at(":"))
        scan.skip(":");
    const int minutes = scan.number(2, 0, 59);
    if (!scan.sound() || (!scan.rest().empty() && isWordCharacter(scan.rest().front())))
        return std::nullopt;
    const std::int64_t seconds = hours * 3600 + minutes * 60;
    return west ? -seconds : seconds;
}

std::optional<std::int64_t> toUs(int year, int month, int day, const Clock& clock, std::optional<std::int64_t> zone)
{
    const std::chrono::year_month_day date { std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day)) };
    if (!date.ok())
        return std::nullopt;
    if (zone) {
        const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
        return (days * DaySeconds + clock.hour * 3600 + clock.minute * 60 + clock.second - *zone) * Million + clock.us;
    }
    std::tm local {};
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day;
    local.tm_hour = clock.hour;
    local.tm_min = clock.minute;
    local.tm_sec = clock.second;
    local.tm_isdst = -1;
    const std::time_t seconds = std::mktime(&local);
    return seconds == -1 ? std::nullopt : std::optional(static_cast<std::int64_t>(seconds) * Million + clock.us);
}

/// "2026-08-21 12:34:56,789", "2026/08/21T12:34:56.789Z"
std::optional<std::int64_t> fullDate(Scan scan)
{
    const int year = scan.number(4, 2000, 2199);
    scan.skip("-/");
    const int month = scan.number(2, 1, 12);
    scan.skip("-/");
    const int day = scan.number(2, 1, 31);
    scan.skip(" T");
    const Clock clock = readClock(scan);
    return scan.sound() ? toUs(year, month, day, clock, readZone(scan)) : std::nullopt;
}

/// "08-21 12:34:56", as vLLM writes it
std::optional<std::int64_t> dateWithoutYear(Scan scan, std::int64_t nowUs)
{
    const int month = scan.number(2, 1, 12);
    scan.skip("-");
    const int day = scan.number(2, 1, 31);
    scan.skip(" ");
    const Clock clock = readClock(scan);
    if (!scan.sound())
        return std::nullopt;
    const std::chrono::year_month_day today(
        std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(nowUs / Million))));
    const int thisYear = static_cast<int>(today.year());
    for (const int year : { thisYear + 1, thisYear, thisYear - 1 }) { // clocks differ, and so does the start of a year
        const std::optional<std::int64_t> us = toUs(year, month, day, clock, std::nullopt);
        if (us && *us <= nowUs + DaySeconds * Million)
            return us;
    }
    return std::nullopt;
}

/// "1755779696.123"
std::optional<std::int64_t> secondsSince1970(std::string_view text)
{
    constexpr std::size_t Digits = 10; // until the year 2286
    const auto end = std::find_if_not(text.begin(), text.end(), isDigit);
    if (end - text.begin() != Digits)
        return std::nullopt;
    std::int64_t seconds = 0;
    for (auto digit = text.begin(); digit != end; ++digit)
        seconds = seconds * 10 + (*digit - '0');
    Scan behind(text.substr(Digits));
    const std::int64_t us = behind.fraction();
    if (seconds < 1'000'000'000 || (!behind.rest().empty() && isWordCharacter(behind.rest().front())))
        return std::nullopt;
    return seconds * Million + us;
}

}

std::optional<std::int64_t> findLogTime(std::string_view text, std::int64_t nowUs)
{
    text = text.substr(0, MostPrefixBytes);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!isDigit(text[i]))
            continue;
        if (i > 0 && (isWordCharacter(text[i - 1]) || text[i - 1] == '.' || text[i - 1] == '-'))
            continue;
        const std::string_view rest = text.substr(i);
        if (const auto us = fullDate(Scan(rest)))
            return us;
        if (const auto us = dateWithoutYear(Scan(rest), nowUs))
            return us;
        if (const auto us = secondsSince1970(rest))
            return us;
    }
    return std::nullopt;
}

} // namespace deltascope
