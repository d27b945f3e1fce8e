#include "leftovers_text.h"

#include "deltascope/base/bytes.h"

#include <fmt/format.h>

namespace deltascope::cli {

namespace {

std::string stateText(const app::LeftoverView& leftover)
{
    const std::string who =
        leftover.shared ? "of a rebuild that several processes share" : fmt::format("of process {}", leftover.process);
    return who + (leftover.atWork ? ", a process is at work in it" : "");
}

}

std::string leftoversText(const app::LeftoversView& view, const Style& style)
{
    if (view.leftovers.empty())
        return "no leftovers in " + safe(view.folder) + "\n";
    std::string text;
    std::uint64_t left = 0;
    for (const app::LeftoverView& one : view.leftovers) {
        text += fmt::format("{:>10}  {}\n", bytesText(one.bytes), safe(one.path));
        text +=
            paint(style, Paint::Dim, fmt::format("{:>10}  for {}, {}\n", "", safe(one.destination), stateText(one)));
        left += one.bytes;
    }
    return text + fmt::format("{}, {}\n", counted(view.leftovers.size(), "leftover"), bytesText(left));
}

} // namespace deltascope::cli
