#include "pages/timeline/time_ticks.h"

#include <QDateTime>

#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr std::int64_t Ms = 1000, Second = 1000 * Ms, Minute = 60 * Second, Hour = 60 * Minute, Day = 24 * Hour;
constexpr std::size_t MostTicks = 1000;

constexpr std::array<std::int64_t, 29> Distances = { 1,          2,           5,           10,          20,
                                                     50,         100,         200,         500,         Ms,
                                                     2 * Ms,     5 * Ms,      10 * Ms,     20 * Ms,     50 * Ms,
                                                     100 * Ms,   200 * Ms,    500 * Ms,    Second,      2 * Second,
                                                     5 * Second, 10 * Second, 15 * Second, 30 * Second, Minute,
                                                     2 * Minute, 5 * Minute,  10 * Minute, 15 * Minute };
constexpr std::array<std::int64_t, 6> LongDistances = { 30 * Minute, Hour, 2 * Hour, 6 * Hour, 12 * Hour, Day };

}

std::int64_t timeTickUs(double leastUs)
{
    for (const std::int64_t distance : Distances) {
        if (static_cast<double>(distance) >= leastUs)
            return distance;
    }
    for (const std::int64_t distance : LongDistances) {
        if (static_cast<double>(distance) >= leastUs)
            return distance;
    }
    return static_cast<std::int64_t>(std::ceil(leastUs / static_cast<double>(Day))) * Day;
}

std::vector<std::int64_t> timeTicks(const TimeWindow& window, std::int64_t everyUs)
{
    const QDateTime begin = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(window.fromUs / 1000));
    const double offset = static_cast<double>(begin.offsetFromUtc()) * static_cast<double>(Second);
    const auto every = static_cast<double>(everyUs);
    std::vector<std::int64_t> ticks;
    for (double tick = std::ceil((window.fromUs + offset) / every) * every - offset;
         tick <= window.toUs && ticks.size() < MostTicks; tick += every)
        ticks.push_back(std::llround(tick));
    return ticks;
}

QString timeTickText(std::int64_t us, std::int64_t everyUs)
{
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(us / 1000);
    if (everyUs >= Day)
        return time.toString(QStringLiteral("MM-dd"));
    if (everyUs >= Minute)
        return time.toString(QStringLiteral("HH:mm"));
    if (everyUs >= Second)
        return time.toString(QStringLiteral("HH:mm:ss"));
    if (everyUs >= Ms)
        return time.toString(QStringLiteral("HH:mm:ss.zzz"));
    return time.toString(QStringLiteral("ss.zzz")) + QStringLiteral("%1").arg(us % 1000, 3, 10, QLatin1Char('0'));
}

} // namespace deltascope::desktop
