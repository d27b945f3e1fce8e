#include "plot/plot_axis.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

double ValueAxis::scaled(double value) const
{
    switch (scale) {
    case PlotScale::Log:
        return value > 0 ? std::log10(value) : low;
    case PlotScale::SymLog:
        return std::copysign(std::log10(1 + std::abs(value) / linearTo), value);
    default:
        return value;
    }
}

double ValueAxis::place(double value) const
{
    return high > low ? std::clamp((scaled(value) - low) / (high - low), -0.5, 1.5) : 0.0;
}

QString ValueAxis::text(double tick) const
{
    if (scale == PlotScale::Linear || tick == 0)
        return QString::number(tick, 'f', decimals);
    const double size = std::abs(tick);
    if (size < 1e-3 || size >= 1e5)
        return QString::number(tick, 'g', 2);
    return QString::number(tick, 'f', std::max(0, -static_cast<int>(std::floor(std::log10(size) + 1e-9))));
}

double roundDistance(double least)
{
    if (!(least > 0) || !std::isfinite(least))
        return 1;
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double times : { 1.0, 2.0, 5.0 }) {
        if (times * power >= least * (1 - 1e-9))
            return times * power;
    }
    return 10 * power;
}

double roundTime(double least)
{
    constexpr double Minute = 60;
    constexpr double Hour = 60 * Minute;
    constexpr double Day = 24 * Hour;
    for (const double each : { 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, Minute, 2 * Minute, 5 * Minute, 10 * Minute,
                               15 * Minute, 30 * Minute, Hour, 2 * Hour, 3 * Hour, 6 * Hour, 12 * Hour, Day }) {
        if (each >= least)
            return each;
    }
    return roundDistance(least / Day) * Day;
}

ValueAxis makeValueAxis(double low, double high, bool fromZero, int wanted, bool integers)
{
    ValueAxis axis;
    if (fromZero) {
        low = std::min(0.0, low);
        high = high > low ? high * 1.04 : 1;
    } else {
        const double room = high > low ? 0.12 * (high - low) : std::max(std::abs(high) * 0.2, 1e-12);
        low -= room;
        high += room;
    }
    double distance = roundDistance((high - low) / std::max(1, wanted));
    if (integers)
        distance = std::max(1.0, std::round(distance));
    axis.low = std::floor(low / distance + 1e-9) * distance;
    axis.high = std::ceil(high / distance - 1e-9) * distance;
    axis.decimals = std::clamp(-static_cast<int>(std::floor(std::log10(distance) + 1e-9)), 0, 9);
    const auto count = static_cast<int>(std::round((axis.high - axis.low) / distance));
    for (int i = 0; i <= count; ++i)
        axis.ticks.push_back(axis.low + i * distance);
    return axis;
}

std::optional<double> outlierCut(std::vector<double>& values)
{
    constexpr double Times = 3; ///< longer than so many usual ones
    constexpr double Room = 1.6; ///< above the usual ones
    if (values.empty())
        return std::nullopt;
    const auto usual = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 19 / 20);
    std::nth_element(values.begin(), usual, values.end());
    const double highest = *std::max_element(usual, values.end());
    return *usual > 0 && highest > Times * *usual ? std::optional(Room * *usual) : std::nullopt;
}

ValueAxis makeLogAxis(double low, double high, int wanted)
{
    ValueAxis axis;
    axis.scale = PlotScale::Log;
    axis.low = std::floor(std::log10(low) + 1e-9);
    axis.high = std::max(axis.low + 1, std::ceil(std::log10(high) - 1e-9));
    const double each = std::max(1.0, std::ceil((axis.high - axis.low) / std::max(1, wanted)));
    for (double power = axis.low; power <= axis.high + 1e-9; power += each)
        axis.ticks.push_back(std::pow(10.0, power));
    return axis;
}

ValueAxis makeSymLogAxis(double low, double high, double least, int wanted)
{
    ValueAxis axis;
    axis.scale = PlotScale::SymLog;
    const double first = std::floor(std::log10(least) + 1e-9);
    axis.linearTo = std::pow(10.0, first);
    const auto decades = [first](double far) {
        return far > 0 ? std::max(1.0, std::ceil(std::log10(far) - 1e-9) - first) : 0.0;
    };
    const double up = decades(high);
    const double down = decades(-low);
    const double each = std::max(1.0, std::ceil((up + down) / std::max(1, wanted)));
    for (double power = std::floor(down / each) * each; power > 0; power -= each)
        axis.ticks.push_back(-std::pow(10.0, first + power));
    axis.ticks.push_back(0);
    for (double power = each; power <= up + 1e-9; power += each)
        axis.ticks.push_back(std::pow(10.0, first + power));
    axis.low = down > 0 ? axis.scaled(-std::pow(10.0, first + down)) : 0;
    axis.high = up > 0 ? axis.scaled(std::pow(10.0, first + up)) : 0;
    return axis;
}

std::vector<std::int64_t> stepTicks(StepRange range, double pixelsPerStep, double pixels)
{
    std::vector<std::int64_t> ticks;
    const auto distance =
        static_cast<std::int64_t>(roundDistance(std::max(1.0, pixels / std::max(1e-12, pixelsPerStep))));
    std::int64_t tick = range.first / distance * distance;
    if (tick < range.first)
        tick += distance;
    while (tick <= range.second) {
        ticks.push_back(tick);
        if (range.second - tick < distance)
            break;
        tick += distance;
    }
    return ticks;
}

} // namespace deltascope::desktop
