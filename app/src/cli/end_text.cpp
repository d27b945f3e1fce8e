#include "text.h"

#include "terminal.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <fmt/format.h>

// What a command says on stderr at its end.

namespace deltascope::cli {

namespace {

std::string meterText(const app::StoreMeterView& meter)
{
    std::string text =
        fmt::format("{}: {} {}, {} in, {} out", meter.source, meter.requests,
                    meter.requests == 1 ? "request" : "requests", bytesText(meter.bytesIn), bytesText(meter.bytesOut));
    if (meter.retries > 0)
        text += fmt::format(", {} repeated", meter.retries);
    if (meter.bytesFromCache > 0)
        text += fmt::format(", {} from the cache", bytesText(meter.bytesFromCache));
    return text;
}

}

std::string metersText(const std::vector<app::StoreMeterView>& meters)
{
    std::string text;
    for (const app::StoreMeterView& meter : meters) {
        if (meter.requests > 0)
            text += safe(meterText(meter)) + "\n";
    }
    return text;
}

std::string deviceText(const std::optional<app::DeviceShareView>& share, double seconds)
{
    if (!share)
        return {};
    const std::uint64_t all = share->all();
    if (all == 0)
        return "cuda: there were no batches for the device; the processor did the work\n";
    const double rate = static_cast<double>(share->byDevice) / std::max(seconds, 1e-3);
    return fmt::format("cuda: {} of {} in batches on the device, {}/s{}\n", bytesText(share->byDevice), bytesText(all),
                       bytesText(static_cast<std::uint64_t>(rate)),
                       share->byProcessor > 0 ? "; the processor did the rest" : "");
}

std::string backendNoticesText(const std::vector<Error>& notices)
{
    std::string text;
    for (const Error& notice : notices)
        text += fmt::format("note: {}\n      {}\n", safe(notice.text), safe(notice.remedyText()));
    return text;
}

} // namespace deltascope::cli
