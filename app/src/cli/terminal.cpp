#include "terminal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deltascope::cli {

namespace {

bool isSet(const char* name)
{
    const char* value = std::getenv(name);
    return value && *value;
}

void writeAll(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t done = ::write(descriptor, text.data(), text.size());
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EPIPE)
            ::_exit(0);
        if (done <= 0) {
            constexpr std::string_view Message = "deltascope: DS-IO: the output cannot be written\n";
            if (descriptor != STDERR_FILENO)
                static_cast<void>(!::write(STDERR_FILENO, Message.data(), Message.size()));
            ::_exit(1);
        }
        text.remove_prefix(static_cast<std::size_t>(done));
    }
}

/// Length of the UTF-8 sequence at the front and its code point; 0 if it is none.
std::size_t decode(std::string_view text, std::uint32_t& point)
{
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) {
        point = lead;
        return 1;
    }
    const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4
        : lead >= 0xe0 && lead < 0xf0                      ? 3
        : lead >= 0xc2 && lead < 0xe0                      ? 2
                                                           : 0;
    if (length == 0 || text.size() < length)
        return 0;
    point = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80)
            return 0;
        point = (point << 6) | (next & 0x3fU);
    }
    return length;
}

bool isHarmless(std::uint32_t point)
{
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    const bool bidi = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e
        || point == 0x200f || point == 0x061c;
    const bool separator = point == 0x2028 || point == 0x2029 || point == 0xfeff;
    return !control && !bidi && !separator;
}

}

Style Style::detect(ColorChoice choice, bool quiet, bool plain)
{
    Style style;
    style.quiet = quiet;
    style.bars = !plain;
    style.progress = !quiet && ::isatty(STDERR_FILENO) == 1;
    const char* terminal = std::getenv("TERM");
    const bool capable =
        ::isatty(STDOUT_FILENO) == 1 && !isSet("NO_COLOR") && !(terminal && std::string_view(terminal) == "dumb");
    style.color = choice == ColorChoice::Always || (choice == ColorChoice::Auto && capable);
    return style;
}

std::string paint(const Style& style, Paint paint, std::string_view text)
{
    if (!style.color || paint == Paint::Plain || text.empty())
        return std::string(text);
    constexpr std::array<const char*, 8> Codes = { "0", "2", "1", "1;36", "34", "33", "31", "32" };
    return fmt::format("\x1b[{}m{}\x1b[0m", Codes[static_cast<std::size_t>(paint)], text);
}

std::string safe(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        std::uint32_t point = 0;
        const std::size_t length = decode(text, point);
        if (length == 0) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
            text.remove_prefix(1);
            continue;
        }
        if (isHarmless(point))
            out += text.substr(0, length);
        else
            out += fmt::format("\\u{{{:x}}}", point);
        text.remove_prefix(length);
    }
    return out;
}

std::string durationText(double seconds)
{
    if (seconds < 10)
        return fmt::format("{:.1f} s", seconds);
    if (seconds < 120)
        return fmt::format("{:.0f} s", seconds);
    if (seconds < 7200)
        return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.1f} h", seconds / 3600);
}

std::string pauseText(double milliseconds)
{
    return milliseconds < 999.5 ? fmt::format("{:.0f} ms", milliseconds) : durationText(milliseconds / 1e3);
}

std::string ageText(std::int64_t us, std::int64_t nowUs)
{
    const std::int64_t seconds = std::max<std::int64_t>(0, (nowUs - us) / 1'000'000);
    if (seconds < 120)
        return fmt::format("{} s", seconds);
    if (seconds < 7200)
        return fmt::format("{} min", seconds / 60);
    if (seconds < 172'800)
        return fmt::format("{} h", seconds / 3600);
    return fmt::format("{} d", seconds / 86'400);
}

std::string percentText(double fraction)
{
    const double percent = fraction * 100;
    if (percent == 0)
        return "0 %";
    return percent < 0.01                   ? "<0.01 %"
        : percent >= 99.95 && percent < 100 ? ">99.9 %" // nearly all is not all
        : percent < 10                      ? fmt::format("{:.2f} %", percent)
                                            : fmt::format("{:.1f} %", percent);
}

std::string barText(double fraction, int width)
{
    constexpr std::array<const char*, 9> Eighths = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
    const int eighths =
        std::clamp(static_cast<int>(std::lround(fraction * width * 8)), fraction > 0 ? 1 : 0, width * 8);
    std::string bar;
    for (int i = 0; i < eighths / 8; ++i)
        bar += Eighths[8];
    bar += Eighths[static_cast<std::size_t>(eighths % 8)];
    bar.append(static_cast<std::size_t>(width - (eighths + 7) / 8), ' ');
    return bar;
}

std::int64_t nowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool isReaderGone() noexcept
{
    struct stat status = {};
    if (::fstat(STDOUT_FILENO, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return false;
    pollfd out { STDOUT_FILENO, 0, 0 };
    return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

void writeOut(std::string_view text) { writeAll(STDOUT_FILENO, text); }
void writeErr(std::string_view text) { writeAll(STDERR_FILENO, text); }

} // namespace deltascope::cli
