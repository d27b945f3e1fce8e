#include "plot/plot_axis.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

double ValueAxis::place(double value) const
{
    if (log)
        value = value > 0 ? std::log10(value) : low;
    return high > low ? std::clamp((value - low) / (high - low), -0.5, 1.5) : 0.0;
}

QString ValueAxis::text(double tick) const
{
    if (log && (tick < 1e-3 || tick >= 1e5))
        return QString::number(tick, 'g', 2);
    return QString::number(tick, 'f', log ? std::max(0, -static_cast<int>(std::floor(std::log10(tick)))) : decimals);
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
    axis.log = true;
    axis.low = std::floor(std::log10(low) + 1e-9);
    axis.high = std::max(axis.low + 1, std::ceil(std::log10(high) - 1e-9));
    const double each = std::max(1.0, std::ceil((axis.high - axis.low) / std::max(1, wanted)));
    for (double power = axis.low; power <= axis.high + 1e-9; power += each)
        axis.ticks.push_back(std::pow(10.0, power));
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
