#include "text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

/// Plain digits, three of them significant; no currency.
std::string priceText(double price)
{
    if (price == 0)
        return "0";
    if (price < 1e-9)
        return "<0.000000001";
    if (price >= 999.5)
        return countText(static_cast<std::uint64_t>(std::llround(std::min(price, 1e18))));
    return fmt::format("{:.{}f}", price, std::max(0, 2 - static_cast<int>(std::floor(std::log10(price)))));
}

std::string orUnknown(const std::optional<double>& price) { return price ? priceText(*price) : UnknownText; }
std::string orUnknown(const std::optional<std::uint64_t>& bytes) { return bytes ? bytesText(*bytes) : UnknownText; }

std::string linkText(double seconds)
{
    if (seconds >= 1)
        return durationText(seconds);
    return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string numberText(double number)
{
    return number >= 1000 ? countText(static_cast<std::uint64_t>(std::llround(number))) : fmt::format("{:.3g}", number);
}

std::string assumption(const app::AssumedView& number, const std::string& words)
{
    return numberText(number.value) + words + (number.assumed ? " (assumed)" : "");
}

/// Breaks text at spaces so that no line is longer than `width`.
std::string wrapped(const std::string& text, std::size_t width)
{
    std::string out;
    std::size_t lineBegin = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (at > lineBegin && end - lineBegin > width) {
            out.back() = '\n';
            lineBegin = at;
        }
        out.append(text, at, end - at).append(1, ' ');
        at = end + 1;
    }
    if (!out.empty())
        out.back() = '\n';
    return out;
}

std::string header(const app::CostView& cost, const Style& style)
{
    std::string text = paint(style, Paint::Bold, safe(cost.source)) + "  " + cost.layout;
    text += cost.epochs > 1 ? fmt::format("  epoch {} (newest run)\n", cost.epoch) : "\n";
    text += fmt::format("{}: {}, {}", counted(cost.versions, "version"), counted(cost.anchors, "anchor"),
                        counted(cost.deltas, "delta"));
    if (cost.broken > 0)
        text += fmt::format(" · {} left out", counted(cost.broken, "broken version"));
    if (cost.stepsPerDayGiven)
        text += fmt::format(" · {} steps per day", numberText(*cost.stepsPerDay));
    else if (cost.stepsPerDay)
        text += fmt::format(" · a step every {}, {} per day by publication times", durationText(*cost.secondsPerStep),
                            numberText(*cost.stepsPerDay));
    else
        text += " · steps per day are not known";
    const std::string perRequest = cost.pricePerThousandRequests.value > 0
        ? fmt::format(" and {} per 1,000 requests", priceText(cost.pricePerThousandRequests.value))
        : std::string();
    text += fmt::format(
        "\nprice {}{} · link {} · {}\n", assumption(cost.pricePerGb, " per GB"), perRequest,
        assumption(cost.linkGbps, " Gbit/s"),
        assumption(cost.restoresPerDay, cost.restoresPerDay.value == 1 ? " restore per day" : " restores per day"));
    return text;
}

std::string row(const char* name, const std::optional<app::CostRowView>& row)
{
    if (!row)
        return fmt::format("  {:<18}{:>10}\n", name, UnknownText);
    return fmt::format("  {:<18}{:>10}  {:>12}  {:>10}  {:>10}  {:>12}  {:>10}\n", name, bytesText(row->bytes),
                       priceText(row->price), linkText(row->linkSeconds), orUnknown(row->bytesPerDay),
                       orUnknown(row->pricePerDay),
                       row->timesSmaller ? numberText(*row->timesSmaller) + "x" : UnknownText);
}

std::string newestRestorable(const app::CostView& cost)
{
    if (cost.restoreIsNewest)
        return "the newest step";
    const std::string epoch = cost.restoreEpoch == cost.epoch ? std::string() : fmt::format("{}:", cost.restoreEpoch);
    return fmt::format("step {}{}, the newest that can be rebuilt,", epoch, cost.restoreStep);
}

std::string rows(const app::CostView& cost, const Style& style)
{
    std::string text = paint(style, Paint::Dim,
                             fmt::format("\n  {:<18}{:>10}  {:>12}  {:>10}  {:>10}  {:>12}  {:>10}\n", "mean of one",
                                         "bytes", "price", "on the link", "bytes/day", "price/day", "full sync is"));
    text += row("delta", cost.delta);
    text += row("published version", cost.published);
    text += row(cost.fullIsBase ? "full sync (base)" : "full sync", cost.full);
    if (cost.restoreBytes)
        text += fmt::format("  Rebuilding {} reads {}, {} on the link, with {}.\n", newestRestorable(cost),
                            bytesText(*cost.restoreBytes), linkText(*cost.restoreSeconds),
                            counted(cost.restoreDeltas, "delta"));
    return text;
}

std::string cadences(const app::CostView& cost, const Style& style)
{
    if (cost.cadences.empty())
        return {};
    std::string text = paint(style, Paint::Dim,
                             fmt::format("\n  {:>12}  {:>13}  {:>12}  {:>11}  {:>10}  {:>12}\n",
                                         cost.baseOutside ? "base every" : "anchor every", "published/day",
                                         "read/restore", "on the link", "moved/day", "price/day"));
    for (const app::CadenceView& cadence : cost.cadences) {
        const std::string line = fmt::format("  {:>12}  {:>13}  {:>12}  {:>11}  {:>10}  {:>12}",
                                             countText(cadence.every), orUnknown(cadence.publishedBytesPerDay),
                                             bytesText(cadence.restoreBytes), linkText(cadence.restoreSeconds),
                                             orUnknown(cadence.bytesPerDay), orUnknown(cadence.pricePerDay));
        text += paint(style, cadence.recommended ? Paint::Good : Paint::Plain, line);
        text += cadence.recommended ? "  ← least" : "";
        text += cadence.own ? "  ← this run" : "";
        text += "\n";
    }
    return text;
}

std::string predictionText(const app::PredictionView& prediction)
{
    const std::string rate = fmt::format("learning rate {:g}", prediction.learningRate);
    if (!prediction.sigma)
        return fmt::format("{:>9}  predicted from {}: no weights could be sampled", UnknownText, rate);
    const std::string from = fmt::format("predicted from {} and weights of sigma {:.3g} ({} read)", rate,
                                         *prediction.sigma, bytesText(prediction.sampledBytes));
    if (!prediction.fraction)
        return fmt::format("{:>9}  {}: outside of the formula's range", UnknownText, from);
    std::string text = fmt::format("{:>9}  {}", percentText(*prediction.fraction), from);
    if (prediction.elementsOutside > 0)
        text +=
            fmt::format("; {} of {} elements are outside of the formula's range", countText(prediction.elementsOutside),
                        countText(prediction.elementsOutside + prediction.elements));
    return text;
}

std::string changes(const app::CostView& cost)
{
    std::string text = "\nchanged by one delta\n";
    if (cost.changedFraction)
        text += fmt::format("{:>9}  observed, median of {}\n", percentText(*cost.changedFraction),
                            counted(cost.replayedDeltas, "delta"));
    else
        text += fmt::format("{:>9}  observed: no delta was replayed\n", UnknownText);
    if (cost.prediction)
        text += predictionText(*cost.prediction) + "\n";
    if (cost.changedFraction)
        text += "           A CUDA device that keeps a copy of its model sends only these elements, each with 2 bytes\n"
                "           for its position (deltascope/device.h). The processor compares states in files faster.\n";
    return text;
}

}

std::string costText(const app::CostView& cost, const Style& style)
{
    constexpr std::size_t LineWidth = 100;
    std::string text = header(cost, style) + rows(cost, style) + cadences(cost, style) + "\n"
        + wrapped(cost.recommendation, LineWidth) + changes(cost);
    for (const app::ProblemView& problem : cost.problems)
        text += problemText(problem, style);
    return text;
}

} // namespace deltascope::cli
