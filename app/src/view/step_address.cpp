#include "step_address.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace deltascope::app {

namespace {

std::optional<std::int64_t> numberOf(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

}

std::string addressOf(const StepView& step) { return fmt::format("{}:{}", step.epoch, step.step); }

Result<const StepView*> findStep(const RunView& run, const std::string& address)
{
    const std::string_view text = address;
    const std::size_t colon = text.find(':');
    const bool hasEpoch = colon != std::string_view::npos;
    const auto epoch = hasEpoch ? numberOf(text.substr(0, colon)) : std::nullopt;
    const auto step = numberOf(hasEpoch ? text.substr(colon + 1) : text);
    if (!step || (hasEpoch && !epoch))
        return fail(Code::Usage, fmt::format("\"{}\" is no step: 12 or EPOCH:12", address), run.source);
    for (auto at = run.epochs.rbegin(); at != run.epochs.rend(); ++at) {
        if (epoch && at->epoch != *epoch)
            continue;
        for (const StepView& view : at->steps) {
            if (view.step == *step && view.state != "gap")
                return &view;
        }
    }
    return fail(Code::NotFound, fmt::format("the run has no step {}", address), run.source);
}

} // namespace deltascope::app
