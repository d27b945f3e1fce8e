#include "bundle_text.h"

#include "text.h"

#include <fmt/format.h>

namespace deltascope::cli {

std::string bundleText(const bundle::BundleView& view)
{
    std::string text = fmt::format("{}  {}, {}\n", safe(view.path), bytesText(view.bytes), counted(view.steps, "step"));
    for (const std::string& what : view.leftOut)
        text += "not in it: " + what + "\n";
    return text;
}

} // namespace deltascope::cli
