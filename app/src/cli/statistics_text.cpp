#include "text.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

std::string numberText(const std::optional<double>& number)
{
    return number ? fmt::format("{:.6g}", *number) : UnknownText;
}

std::string shapeOf(const app::StatisticsView& view)
{
    return view.shape.empty() ? "a scalar" : fmt::format("{}", fmt::join(view.shape, " × "));
}

/// A line per statistic: its name and a text for a step.
std::vector<std::pair<std::string, std::string>> linesOf(const app::ValuesView& values)
{
    std::vector<std::pair<std::string, std::string>> lines {
        { "min", numberText(values.min) }, { "max", numberText(values.max) },   { "mean", numberText(values.mean) },
        { "std", numberText(values.std) }, { "norm", numberText(values.norm) },
    };
    for (const auto& [percent, value] : values.percentiles)
        lines.emplace_back(fmt::format("p{}", percent), numberText(value));
    lines.emplace_back("zeros", countText(values.zeros));
    lines.emplace_back("NaN", countText(values.nan));
    lines.emplace_back("infinite", countText(values.positiveInfinite + values.negativeInfinite));
    return lines;
}

std::string valuesText(const app::StatisticsView& view, const Style& style)
{
    const auto step = [](const app::ValuesView& values) { return fmt::format("step {}", values.step); };
    std::string text = paint(style, Paint::Dim,
                             fmt::format("  {:<10} {:>14} {:>14}\n", "", view.a ? step(*view.a) : "", step(view.b)));
    const auto b = linesOf(view.b);
    const auto a = view.a ? linesOf(*view.a) : b;
    const bool comparable = a.size() == b.size(); // without a finite value there are no percentiles
    for (std::size_t i = 0; i < b.size(); ++i)
        text +=
            fmt::format("  {:<10} {:>14} {:>14}\n", b[i].first, view.a && comparable ? a[i].second : "", b[i].second);
    return text;
}

std::string movedText(const app::ValuesMovedView& moved, std::uint64_t elements, const Style& style)
{
    std::string text = fmt::format("  changed    {} of {}, {} sign flips\n", countText(moved.changed),
                                   countText(elements), countText(moved.signFlips));
    if (moved.nanInvolved > 0)
        text += fmt::format("  with NaN   {}, in nothing below\n", countText(moved.nanInvolved));
    text += fmt::format("  max |Δ|    {}\n  rel. L2    {}\n", numberText(moved.maxAbs), numberText(moved.relativeNorm));
    std::uint64_t from = 1;
    for (const auto& [upTo, count] : moved.ulp) {
        const std::string range =
            from == upTo ? countText(upTo) : fmt::format("{}–{}", countText(from), countText(upTo));
        const double share = static_cast<double>(count) / static_cast<double>(moved.changed);
        text += fmt::format("  {:>14} {:>12}  {}\n", range + " ulp", countText(count),
                            style.bars ? paint(style, Paint::Delta, barText(share, 24)) : percentText(share));
        from = upTo + 1;
    }
    return text;
}

std::string histogramText(const app::HistogramView& histogram, const Style& style)
{
    constexpr std::size_t Rows = 16;
    const std::size_t bins = histogram.b.size();
    const std::size_t each = std::max<std::size_t>(1, (bins + Rows - 1) / Rows);
    std::vector<std::uint64_t> counts;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        if (bin % each == 0)
            counts.push_back(0);
        counts.back() += histogram.b[bin];
    }
    const std::uint64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    std::string text;
    for (std::size_t row = 0; row < counts.size(); ++row) {
        const double share = static_cast<double>(counts[row]) / static_cast<double>(std::max<std::uint64_t>(1, most));
        text += fmt::format("  {:>11.4g} {:>14}  {}\n", histogram.edges[row * each], countText(counts[row]),
                            style.bars ? paint(style, Paint::Anchor, barText(share, 24)) : "");
    }
    if (!counts.empty())
        text += fmt::format("  {:>11.4g}\n", histogram.edges.back());
    return text;
}

std::string unreadText(const std::vector<app::UnreadStepsView>& unread, const Style& style)
{
    std::string text;
    for (const app::UnreadStepsView& steps : unread)
        text += paint(style, Paint::Warn,
                      fmt::format("  not read       {}: {}\n",
                                  steps.first == steps.last ? fmt::format("step {}", steps.first)
                                                            : fmt::format("steps {} to {}", steps.first, steps.last),
                                  safe(steps.why)));
    return text;
}

}

std::string statisticsText(const app::StatisticsView& view, const Style& style)
{
    std::string text = paint(style, Paint::Bold, safe(view.tensor))
        + fmt::format("  {}, {}, {}\n\n", view.dtype, shapeOf(view), counted(view.elements, "element"));
    text += valuesText(view, style);
    if (view.moved)
        text += "\n" + paint(style, Paint::Bold, fmt::format("From step {} to {}", view.a->step, view.b.step)) + "\n"
            + movedText(*view.moved, view.elements, style);
    if (!view.linear.b.empty())
        text += "\n" + paint(style, Paint::Bold, fmt::format("Values at step {}", view.b.step)) + "\n"
            + histogramText(view.linear, style);
    return text + readsText(view.reads, style);
}

std::string statisticsHistoryText(const app::StatisticsHistoryView& view, const Style& style)
{
    std::string text = paint(style, Paint::Bold, safe(view.tensor)) + "\n"
        + paint(style, Paint::Dim,
                fmt::format("{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10} {:>8}\n", "step", "min", "max", "mean",
                            "std", "norm", "zeros", "NaN+Inf"));
    for (const app::ValuesView& values : view.steps)
        text += fmt::format("{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10} {:>8}\n", values.step,
                            numberText(values.min), numberText(values.max), numberText(values.mean),
                            numberText(values.std), numberText(values.norm), countText(values.zeros),
                            countText(values.nan + values.positiveInfinite + values.negativeInfinite));
    return text + unreadText(view.unread, style) + readsText(view.reads, style);
}

namespace {

std::string firstText(const app::FirstView& first, std::uint32_t read)
{
    if (first.step)
        return fmt::format("step {}{}", *first.step,
                           first.certain ? "" : " at the latest: not every step before it could be read");
    const std::string steps = read == 1 ? "not at the one step" : fmt::format("at none of {} steps", read);
    return first.certain ? steps : steps + " read; the others could not be";
}

}

std::string tensorFirstsText(const app::TensorFirstsView& view, const Style& style)
{
    std::string text = paint(style, Paint::Bold, safe(view.tensor))
        + fmt::format("  {}, {} of epoch {}, {} of {} read\n", view.dtype,
                      view.begin == view.end ? fmt::format("step {}", view.begin)
                                             : fmt::format("steps {} to {}", view.begin, view.end),
                      view.epoch, view.stepsRead, view.stepsInAll);
    text += fmt::format("  first changed  {}  ({})\n", firstText(view.changed, view.stepsRead),
                        view.onBase ? "from what the base holds" : fmt::format("from what step {} holds", view.begin));
    if (!view.nan)
        text += fmt::format("  first NaN      not known: values of dtype {} are not measured\n", view.dtype);
    else
        text += fmt::format("  first NaN      {}\n",
                            view.nanInBase ? "in the base already" : firstText(*view.nan, view.stepsRead));
    return text + unreadText(view.unread, style) + readsText(view.reads, style);
}

std::string statisticsCostText(const app::StatisticsCostView& cost)
{
    return fmt::format("reads {} for {}; the tensor has {}\n", bytesText(cost.readBytes), counted(cost.steps, "step"),
                       bytesText(cost.tensorBytes));
}

} // namespace deltascope::cli
