#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The whole of a weight sync, where a log tells it; beside the phases of Span.
inline constexpr std::string_view SyncPhase = "sync";
inline constexpr std::string_view PausePhase = "pause";

/// Some work, and how long it took; it ended so many seconds before its line was printed.
struct LogPhase {
    std::string_view phase; ///< as in Span; static
    double seconds = 0;
    double secondsAgo = 0;
    bool derived = false; ///< from other numbers of the line
};

/// What a line says beside how long something took.
enum class LogMark : std::uint8_t {
    None,
    SyncBegan, ///< what follows belongs to another sync than what came before
    SyncEnded, ///< so does what follows this line
    Paused, ///< the engine has stopped generating
    Resumed, ///< and goes on
};

/// One understood line of a log. Numbers that a line does not give are missing.
struct LogEvent {
    std::string_view framework; ///< "trl", "slime", …; static
    std::string_view kind; ///< the text that the line was known by; static
    LogMark mark = LogMark::None;
    std::optional<std::int64_t> printedUs; ///< the time stamp before the text
    std::optional<std::int64_t> step;
    std::vector<LogPhase> phases; ///< in order of time
    std::optional<double> unpausedSeconds; ///< from the begin of the sync until the engine stood still
    std::optional<double> changedFraction; ///< 0 to 1; a claim, and of slime a share of bytes
    std::uint64_t bytes = 0; ///< that went over the wire
    std::string note; ///< for people, if the line tells of trouble: its text, without colors
};

/// Reads one line, without its line break; only the first MostLogLineBytes count. Any bytes are welcome.
/// `nowUs`: dates lines whose time stamp has no year. Nothing if the line is none that we know.
std::optional<LogEvent> parseLogLine(std::string_view line, std::int64_t nowUs);

inline constexpr std::size_t MostLogLineBytes = 16U << 10;

} // namespace deltascope
