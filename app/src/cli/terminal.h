#pragma once

#include "deltascope/app/view/counted.h"
#include "deltascope/base/bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope::cli {

/// How this process may write.
struct Style {
    bool color = false; ///< stdout takes colors
    bool progress = false; ///< stderr is a terminal: one line that is rewritten
    bool quiet = false;
    bool bars = true; ///< block characters drawn beside numbers

    enum class ColorChoice { Auto, Always, Never };
    static Style detect(ColorChoice choice, bool quiet, bool plain);
};

enum class Paint { Plain, Dim, Bold, Anchor, Delta, Warn, Bad, Good };

/// `text` with terminal colors if the style has them.
std::string paint(const Style& style, Paint paint, std::string_view text);

/// Names and keys come from strangers: control, bidi and broken characters are shown, never sent to the terminal.
std::string safe(std::string_view text);

using app::counted;
using app::countText;
std::string ageText(std::int64_t us, std::int64_t nowUs); ///< "7 s", "2 d"
std::string percentText(double fraction); ///< "0.83 %"
std::string durationText(double seconds);
std::string pauseText(double milliseconds); ///< "140 ms", "1.1 s"
/// A bar of `width` cells, filled in eighths.
std::string barText(double fraction, int width);
std::int64_t nowUs();

/// Whether stdout is a pipe or a socket that nobody reads any more.
bool isReaderGone() noexcept;

/// Writes all of `text`. A closed pipe ends the process silently, as users of pipes expect.
void writeOut(std::string_view text);
void writeErr(std::string_view text);

} // namespace deltascope::cli
