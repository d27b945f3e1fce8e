// The lines of logs: the input is a log. Seeds: tests/fuzz/seeds/log_line.

#include "logs/log_parser.h"
#include "logs/log_spans.h"

#include <cmath>
#include <cstdlib>

using namespace deltascope;

namespace {

constexpr std::int64_t NowUs = 1'787'400'000'000'000;

void require(bool condition)
{
    if (!condition)
        std::abort();
}

/// What every event promises.
void checkEvent(const LogEvent& event)
{
    require(!event.framework.empty() && !event.kind.empty());
    require(!event.step || *event.step >= 0);
    require(!event.printedUs || *event.printedUs > 0);
    require(!event.changedFraction || (*event.changedFraction >= 0 && *event.changedFraction <= 1));
    require(event.note.size() <= 240);
    for (const LogPhase& phase : event.phases) {
        require(!phase.phase.empty());
        require(std::isfinite(phase.seconds) && phase.seconds >= 0);
        require(std::isfinite(phase.secondsAgo) && phase.secondsAgo >= 0);
    }
}

void checkSpan(const Span& span)
{
    require(span.actor == "fuzz" && !span.phase.empty() && span.step >= -1);
    require(span.t0Us >= 0 && span.lengthUs() >= 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view log(reinterpret_cast<const char*>(data), size);
    LogSpans spans("fuzz");
    bool followed = false;
    for (std::size_t begin = 0; begin < log.size();) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string_view line = log.substr(begin, end - begin);
        if (const std::optional<LogEvent> event = parseLogLine(line, NowUs)) {
            checkEvent(*event);
            spans.add(*event, followed ? std::optional(NowUs) : std::nullopt);
        }
        followed = !followed;
        begin = end + 1;
    }
    for (const Span& span : spans.spans())
        checkSpan(span);
    return 0;
}
