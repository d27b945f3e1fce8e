#include "logs/log_parser.h"

#include "logs/log_form.h"
#include "logs/log_forms.h"
#include "logs/log_time.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace deltascope {

namespace {

constexpr double MostSeconds = 1e7;
constexpr double MostBytes = 1e18;
constexpr std::int64_t LargestStep = 1'000'000'000'000;
constexpr std::size_t MostNoteBytes = 240;

/// The number of a field; findForm lets nothing else than decimal digits, a point and an exponent through.
double numberOf(const LogField& field)
{
    double value = 0;
    const auto read = std::from_chars(field.text.data(), field.text.data() + field.text.size(), value);
    return read.ec == std::errc() ? value : HUGE_VAL;
}

bool takeStep(LogEvent& event, const LogField& field)
{
    std::int64_t step = 0;
    const char* const end = field.text.data() + field.text.size();
    const auto read = std::from_chars(field.text.data(), end, step);
    if (read.ec != std::errc() || read.ptr != end || step > LargestStep)
        return false;
    event.step = step;
    return true;
}

bool takeBytes(LogEvent& event, const LogField& field, double unit)
{
    const double bytes = numberOf(field) * unit;
    if (!(bytes <= MostBytes))
        return false;
    event.bytes = static_cast<std::uint64_t>(std::llround(bytes));
    return true;
}

bool takeFraction(LogEvent& event, double changed)
{
    if (!(changed >= 0 && changed <= 1))
        return false;
    event.changedFraction = changed;
    return true;
}

bool takeSeconds(LogEvent& event, const LogField& field)
{
    const double seconds = numberOf(field);
    if (!(seconds <= MostSeconds))
        return false;
    if (field.name == "unpaused")
        event.unpausedSeconds = seconds;
    else
        event.phases.push_back(LogPhase { field.name, seconds });
    return true;
}

/// False for a number that no such thing can have.
bool take(LogEvent& event, const LogField& field)
{
    if (field.name == "text" || field.name == "n")
        return true;
    if (field.name == "step")
        return takeStep(event, field);
    if (field.name == "bytes")
        return takeBytes(event, field, 1);
    if (field.name == "MB")
        return takeBytes(event, field, 1e6);
    if (field.name == "GB")
        return takeBytes(event, field, 1e9);
    if (field.name == "MiB")
        return takeBytes(event, field, 1 << 20);
    if (field.name == "changed%")
        return takeFraction(event, numberOf(field) / 100);
    if (field.name == "sparsity%")
        return takeFraction(event, 1 - numberOf(field) / 100);
    if (field.name == "sparsity")
        return takeFraction(event, 1 - numberOf(field));
    return takeSeconds(event, field);
}

/// The details behind the head of a line, each if it is there.
void takeDetails(LogEvent& event, std::string_view details, std::string_view text, std::size_t from)
{
    std::vector<LogField> fields;
    while (!details.empty()) {
        const std::string_view detail = details.substr(0, details.find('|'));
        details.remove_prefix(std::min(details.size(), detail.size() + 1));
        fields.clear();
        if (findForm(detail, text, from, fields)) {
            for (const LogField& field : fields)
                take(event, field);
        }
    }
}

bool isTotal(const LogPhase& phase) { return phase.phase == SyncPhase || phase.phase == PausePhase; }

/// The phases of one line follow each other and end when it is printed; totals span others.
void placePhases(LogEvent& event, std::string_view pausedFrom)
{
    double ago = 0;
    std::optional<double> paused;
    for (auto phase = event.phases.rbegin(); phase != event.phases.rend(); ++phase) {
        if (isTotal(*phase))
            continue;
        phase->secondsAgo = ago;
        ago += phase->seconds;
        if (phase->phase == pausedFrom)
            paused = ago;
    }
    if (paused)
        event.phases.push_back(LogPhase { PausePhase, *paused, 0, true });
}

/// Loggers color words and whole lines: "ESC [ 36 m".
std::string withoutColors(std::string_view line)
{
    constexpr std::string_view Begin = "\x1b[";
    std::string plain;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t escape = std::min(line.find(Begin, at), line.size());
        plain += line.substr(at, escape - at);
        at = line.find_first_not_of("0123456789;", std::min(escape + Begin.size(), line.size()));
        at = at == std::string_view::npos ? line.size() : at + 1; // behind the letter that ends it
    }
    return plain;
}

std::optional<LogEvent> readAs(const LogForm& form, std::string_view line, std::int64_t nowUs)
{
    std::vector<LogField> fields;
    const std::optional<LogMatch> match = findForm(form.head, line, 0, fields);
    if (!match)
        return std::nullopt;
    LogEvent event;
    event.framework = form.framework;
    event.kind = form.head;
    event.mark = form.mark;
    if (!std::all_of(fields.begin(), fields.end(), [&](const LogField& field) { return take(event, field); }))
        return std::nullopt;
    takeDetails(event, form.details, line, match->end);
    placePhases(event, form.pausedFrom);
    event.printedUs = findLogTime(line.substr(0, match->begin), nowUs);
    if (form.tellsTrouble)
        event.note = line.substr(match->begin, MostNoteBytes);
    return event;
}

}

std::optional<LogEvent> parseLogLine(std::string_view line, std::int64_t nowUs)
{
    line = line.substr(0, MostLogLineBytes);
    std::string plain;
    if (line.find('\x1b') != std::string_view::npos)
        line = plain = withoutColors(line);
    for (const LogForm& form : logForms()) {
        if (std::optional<LogEvent> event = readAs(form, line, nowUs))
            return event;
    }
    return std::nullopt;
}

} // namespace deltascope
